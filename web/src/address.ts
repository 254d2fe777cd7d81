// The request in the address (#q=…), and the browser's history as the undo trail.
import type { NetworkRequest, Id, Node } from "./types";
import { shortest } from "./requests";
import type { Store } from "./state";
import type { Trail } from "./trails";

const LARGEST = 16 * 1024 * 1024;

/** Encode a request for an address: JSON, deflated, in base64url. */
export async function packed(request: NetworkRequest, cube: string | null): Promise<string> {
  const said = shortest(request);
  const text = JSON.stringify(cube === null ? said : { ...said, cube });
  return toWord(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw")));
}

/** A request, and names with labels that have to be corrected first; these are not part of it. */
export interface Begun {
  request: NetworkRequest;
  unresolved: [name: string, label: string][];
}

/** Decode a request of an address; throws an error with a sentence if that fails. */
export async function unpacked(word: string): Promise<NetworkRequest> {
  return (await begun(word)).request;
}

async function begun(word: string): Promise<Begun> {
  let value: unknown;
  try {
    const bytes = await through(fromWord(word), new DecompressionStream("deflate-raw"));
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("the address holds no request that can be read: it may have been cut off when it was copied");
  }
  const { unresolved = [], ...request } = isRecord(value) ? value : {};
  if (!Array.isArray(unresolved) || !unresolved.every((pair) => WORDS(pair) && pair.length === 2)) throw new Error("the address has 'unresolved' of the wrong kind");
  return { request: readRequest(isRecord(value) ? request : value), unresolved: unresolved as Begun["unresolved"] };
}

/** The hash of an address with a request; empty for an empty request. */
export async function hashOf(request: NetworkRequest, cube: string | null): Promise<string> {
  return request.query.length === 0 ? "" : `#q=${await packed(request, cube)}`;
}

export async function readHash(hash: string): Promise<NetworkRequest | null> {
  return (await begunOfHash(hash))?.request ?? null;
}

async function begunOfHash(hash: string): Promise<Begun | null> {
  return hash.startsWith("#q=") ? begun(hash.slice(3)) : null;
}

const IDS = (value: unknown): value is Id[] =>
  Array.isArray(value) && value.every((id) => typeof id === "string" || typeof id === "number");
const WORDS = (value: unknown): value is string[] => Array.isArray(value) && value.every((word) => typeof word === "string");
const WORD = (value: unknown): value is string => typeof value === "string";
const NUMBER = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);
const FLAG = (value: unknown): value is boolean => typeof value === "boolean";
const NODES = (value: unknown): value is Node[] => Array.isArray(value) && value.every(isNode);
const TABLE = (of: (value: unknown) => boolean) => (value: unknown) => isRecord(value) && Object.values(value).every(of);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNode = (value: unknown): boolean =>
  isRecord(value) && (WORDS(value.cell) || typeof value.object === "string" || typeof value.object === "number");

const FIELDS: Record<keyof NetworkRequest, (value: unknown) => boolean> = {
  query: IDS,
  labels: WORDS,
  method: WORD,
  objective: WORD,
  form: WORD,
  n_cells: NUMBER,
  r: NUMBER,
  n_neighbors: NUMBER,
  levels: (value) => WORD(value) || WORDS(value),
  max_nodes: NUMBER,
  pins: NODES,
  bans: NODES,
  prefer: IDS,
  options: TABLE((value) => ["string", "number", "boolean"].includes(typeof value)),
  bound: FLAG,
  seed: NUMBER,
  cube: WORD,
  where: TABLE(WORDS),
  roll_up: TABLE(WORD),
  between: WORD,
  kind: WORDS,
};

/** Validate an untrusted value as a request; throws an error that names the field. */
export function readRequest(value: unknown): NetworkRequest {
  if (!isRecord(value) || !IDS(value.query)) throw new Error("the address holds no request: it names no objects");
  for (const [field, given] of Object.entries(value)) {
    const fits = Object.hasOwn(FIELDS, field) ? FIELDS[field as keyof NetworkRequest] : undefined;
    if (!fits) throw new Error(`the address asks for '${field}', which this version does not know`);
    if (!fits(given)) throw new Error(`the address has a '${field}' of the wrong kind`);
  }
  return value as unknown as NetworkRequest;
}

async function through(bytes: Uint8Array<ArrayBuffer>, by: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const reader = (new Blob([bytes]).stream().pipeThrough(by) as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > LARGEST) {
      await reader.cancel();
      throw new Error("the address holds too much");
    }
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function toWord(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromWord(word: string): Uint8Array<ArrayBuffer> {
  const text = atob(word.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

const PAUSE = 300;

/** Keeps a store's moves in the browser's history, so that back, forward, reload and bookmarks work. */
export async function followAddress(store: Store): Promise<void> {
  const cube = store.cube.checksum;
  const placeNow = (): number => (typeof history.state?.at === "number" ? (history.state.at as number) : 0);
  let at = placeNow();
  let most = at;
  let waiting: NetworkRequest | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = (request: NetworkRequest, by: "pushState" | "replaceState", place: number): void => {
    writing = writing.then(async () => {
      const hash = await hashOf(request, cube);
      try {
        history[by]({ at: place }, "", location.pathname + location.search + hash);
      } catch {
        // browsers refuse addresses that are too long or change too often; the page works without
      }
    });
  };
  const settle = (): Promise<void> => {
    clearTimeout(timer);
    if (waiting) write(waiting, "replaceState", at);
    waiting = null;
    return writing;
  };
  store.trail = {
    push(request) {
      arrivals += 1; // a move that is made while an address is read is the later request
      void settle();
      at += 1;
      most = at;
      write(request, "pushState", at);
    },
    replace(request, soon = false) {
      waiting = request;
      clearTimeout(timer);
      if (soon) timer = setTimeout(() => void settle(), PAUSE);
      else void settle();
    },
    back: () => void settle().then(() => history.back()),
    forward: () => void settle().then(() => history.forward()),
    get canGoBack() {
      return at > 0;
    },
    get canGoForward() {
      return at < most;
    },
  } satisfies Trail;
  let arrivals = 0;
  const arrive = async (): Promise<void> => {
    const mine = (arrivals += 1);
    clearTimeout(timer);
    waiting = null;
    at = placeNow();
    most = Math.max(most, at);
    try {
      const { request: found, unresolved } = (await begunOfHash(location.hash)) ?? { request: { query: [] }, unresolved: [] };
      const { cube: asked, ...request } = found as NetworkRequest;
      if (mine !== arrivals) return;
      if (asked !== undefined && asked !== cube) {
        throw new Error("this address was made with another cube: open that one, or start again here");
      }
      const made = store.arrive(request);
      store.give(unresolved);
      await made;
    } catch (error) {
      if (mine === arrivals) store.refuse(error);
    }
  };
  addEventListener("popstate", () => void arrive());
  await arrive();
}
