// The client of the JSON interface: over HTTP here, through a notebook's kernel in widget.ts.
import type { CompareAnswer, CubeAnswer, ExportRequest, FailureDetail, ProgressSchema, Routes, UploadAnswer } from "./types";

export type RouteName = keyof Routes;
export type RequestOf<N extends RouteName> = Routes[N]["body"];
export type Answer<N extends RouteName> = Routes[N]["answer"];

export interface Asking {
  progress?: (told: ProgressSchema) => void;
  signal?: AbortSignal;
}

export interface ExportedFile {
  name: string;
  media_type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface Client {
  ask<N extends RouteName>(name: N, body: RequestOf<N>, how?: Asking): Promise<Answer<N>>;
  file(body: ExportRequest, how?: Asking): Promise<ExportedFile>;
  /** Uploads a file beside those in use and returns its name on the server; undefined where files cannot be uploaded. */
  upload?(file: File, used: readonly string[], how?: Asking): Promise<UploadAnswer>;
  /** Removes an uploaded file. */
  takeBack?(name: string): Promise<UploadAnswer>;
  /** The address of a comparison's report; null where reports have none. */
  report(answer: CompareAnswer): string | null;
}

/** A refused request, in one sentence; kind "offline" without a server, "unauthorised" without the cookie. */
export class Refusal extends Error {
  constructor(
    readonly sentence: string,
    readonly kind: string,
  ) {
    super(sentence);
    this.name = "Refusal";
  }
}

export const stopped = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

/** Any error as a refusal, which has a sentence to show. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(error instanceof Error ? error.message : String(error), "page");
}

const OFFLINE = "the explorer does not answer: it was closed, or this computer slept; start it again, and open the address that it prints";
const UNAUTHORISED = "this page has no key: open the address that the program printed";

/** The kind of a refusal after another window opened another cube: the page has to be reloaded. */
export const OTHER_CUBE = "other-cube";

/** The header that names the cube of a request. */
const ASKED_OF = "cube2net-checksum";

/**
 * A client of the server that this page came from.
 *
 * After the first answer about a cube all requests are for that cube; `moved` is called if another one was opened.
 */
export function httpClient(base = "/api/v1/", moved: (refusal: Refusal) => void = () => undefined): Client {
  let cube: string | null = null;
  async function asked(name: string, body: unknown, how: Asking, accept: string): Promise<Response> {
    try {
      return await post(base + name, body, how, { accept, ...(cube === null || name === "cube" ? {} : { [ASKED_OF]: cube }) });
    } catch (error) {
      throw told(error);
    }
  }
  function told(error: unknown): unknown {
    if (error instanceof Refusal && error.kind === OTHER_CUBE) moved(error);
    return error;
  }
  return {
    async ask<N extends RouteName>(name: N, body: RequestOf<N>, how: Asking = {}): Promise<Answer<N>> {
      const response = await asked(name, body, how, how.progress ? "application/x-ndjson" : "application/json");
      const type = response.headers.get("content-type") ?? "";
      const lines = type.startsWith("application/x-ndjson");
      const answer = await (lines ? streamed<Answer<N>>(response, how.progress) : json<Answer<N>>(response)).catch((error: unknown) => Promise.reject(told(error)));
      if (name === "cube") cube = (answer as CubeAnswer).checksum;
      return answer;
    },
    async file(body, how = {}) {
      const response = await asked("export", body, how, "*/*");
      return {
        name: fileName(response.headers.get("content-disposition")) ?? body.format,
        media_type: response.headers.get("content-type") ?? "application/octet-stream",
        bytes: new Uint8Array(await response.arrayBuffer()),
      };
    },
    async upload(file, used, how = {}) {
      const words = new URLSearchParams([["name", file.name], ...(used.length > 0 ? used : [""]).map((name) => ["uses", name])]);
      return json(await sent(`${base}upload?${words}`, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file }, how));
    },
    async takeBack(name) {
      return json(await sent(`${base}upload?${new URLSearchParams({ name })}`, { method: "DELETE" }, {}));
    },
    report: ({ report }) => (report === "" ? null : `${base}report/${encodeURIComponent(report)}`),
  };
}

function post(address: string, body: unknown, how: Asking, headers: Record<string, string>): Promise<Response> {
  const asked = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  return sent(address, address.endsWith("/cube") ? { method: "GET", headers } : asked, how);
}

async function sent(address: string, request: RequestInit, how: Asking): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, {
      ...request,
      signal: how.signal ?? null,
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (error) {
    if (stopped(error)) throw error;
    throw new Refusal(OFFLINE, "offline");
  }
  if (response.ok) return response;
  if (response.status === 401) throw new Refusal(UNAUTHORISED, "unauthorised");
  const said = (await response.json().catch(() => null)) as { error?: FailureDetail } | null;
  const detail = said?.error ?? { sentence: `the explorer answered ${response.status}`, kind: "server" };
  throw new Refusal(detail.sentence, detail.kind);
}

async function json<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (stopped(error)) throw error;
    throw new Refusal(OFFLINE, "offline");
  }
}

interface Line<T> {
  progress?: ProgressSchema;
  answer?: T;
  error?: FailureDetail;
}

async function streamed<T>(response: Response, progress?: (told: ProgressSchema) => void): Promise<T> {
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const text of lines) {
        if (text.trim() === "") continue;
        const line = JSON.parse(text) as Line<T>;
        if (line.error) throw new Refusal(line.error.sentence, line.error.kind);
        if (line.answer !== undefined) return line.answer;
        if (line.progress) progress?.(line.progress);
      }
      if (done) throw new Refusal(OFFLINE, "offline");
    }
  } catch (error) {
    if (stopped(error) || error instanceof Refusal) throw error;
    throw new Refusal(OFFLINE, "offline");
  }
}

export function fileName(disposition: string | null): string | null {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "");
  if (extended?.[1]) return decodeURIComponent(extended[1]);
  return /filename="?([^";]+)"?/i.exec(disposition ?? "")?.[1] ?? null;
}
