// The page as a notebook widget: the kernel answers by custom messages, and the request is shared with Python.
import "./widget.css";
import { mount } from "./app";
import type { Answer, Asking, Client, ExportedFile, RequestOf, RouteName } from "./client";
import { Refusal, refusalOf } from "./client";
import { showRefusal } from "./refusal_card";
import { same, shortest } from "./requests";
import { sameNode } from "./nodes";
import { Store } from "./state";
import { onTheme, themeNow } from "./theme";
import type { NetworkRequest, FailureDetail, Node, ProgressSchema } from "./types";

/** The model of anywidget: traits and messages. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(message: unknown): void;
  on(event: string, listener: (...told: never[]) => void): void;
  off(event: string, listener: (...told: never[]) => void): void;
}

interface Told {
  id: string;
  progress?: ProgressSchema;
  answer?: true | { name: string; media_type: string };
  error?: FailureDetail;
}

interface Waiting {
  heard(told: Told, buffers: DataView[]): void;
  gone(why: string): void;
}

const GONE = "the page was closed";
const LOST = "The kernel was restarted or is gone: run this cell again.";
const WAITING = "The kernel does not answer yet: it works on something else, or it was stopped and the cell has to be run again.";
const PATIENCE = 4_000;

let views = 0;

/** A client of the kernel of a model; `close` ends it. */
export function widgetClient(model: Model): Client & { close(): void } {
  const view = `${Date.now().toString(36)}-${(views += 1)}`;
  const waiting = new Map<string, Waiting>();
  let asked = 0;
  const hear = (told: Told, buffers: DataView[]): void => waiting.get(told?.id)?.heard(told, buffers ?? []);
  model.on("msg:custom", hear as never);
  const lost = (): void => [...waiting.values()].forEach((entry) => entry.gone(LOST));
  model.on("comm_live_update", lost);
  /** Sends a message; returns whether there is a kernel. */
  const told = (message: unknown): boolean => {
    try {
      model.send(message);
      return true;
    } catch {
      return false;
    }
  };

  function send(name: string, body: unknown, how: Asking): Promise<{ told: Told; buffers: DataView[] }> {
    const id = `${view}-${(asked += 1)}`;
    return new Promise((resolve, reject) => {
      if (how.signal?.aborted) return reject(new DOMException("stopped", "AbortError"));
      const end = (): void => {
        waiting.delete(id);
        how.signal?.removeEventListener("abort", stop);
      };
      const stop = (): void => {
        end();
        told({ id, stop: true });
        reject(new DOMException("stopped", "AbortError"));
      };
      const entry: Waiting = {
        heard(told, buffers) {
          if (told.progress) return how.progress?.(told.progress);
          end();
          if (told.error) reject(new Refusal(told.error.sentence, told.error.kind));
          else resolve({ told, buffers });
        },
        gone(why) {
          end();
          reject(new Refusal(why, "offline"));
        },
      };
      waiting.set(id, entry);
      how.signal?.addEventListener("abort", stop);
      if (!told({ id, name, body })) entry.gone(LOST);
    });
  }

  return {
    async ask<N extends RouteName>(name: N, body: RequestOf<N>, how: Asking = {}): Promise<Answer<N>> {
      const { buffers } = await send(name, body, how);
      return JSON.parse(new TextDecoder().decode(buffers[0])) as Answer<N>;
    },
    async file(body, how = {}): Promise<ExportedFile> {
      const { told, buffers } = await send("export", body, how);
      const about = told.answer as { name: string; media_type: string };
      return { ...about, bytes: bytesOf(buffers[0]) };
    },
    // A report holds scripts, and a blob would run them as the notebook: c2n.write_report writes it to a file.
    report: () => null,
    close() {
      model.off("msg:custom", hear as never);
      model.off("comm_live_update", lost);
      for (const [id, entry] of [...waiting]) {
        told({ id, stop: true });
        entry.gone(GONE);
      }
    },
  };
}

function bytesOf(buffer: DataView | undefined): Uint8Array<ArrayBuffer> {
  return buffer ? new Uint8Array(buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength) as ArrayBuffer) : new Uint8Array();
}

/** Shows the page; returns a function that ends it. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const root = document.createElement("div");
  root.className = "c2n c2n-widget";
  root.dataset.lmSuppressShortcuts = "true"; // the notebook's own keys, such as dd, are not for what is typed here
  const quiet = (event: Event): void => event.stopPropagation();
  for (const kind of ["keydown", "keyup", "keypress", "wheel"]) root.addEventListener(kind, quiet);
  root.dataset.theme = themeNow();
  const life = new AbortController();
  onTheme((theme) => (root.dataset.theme = theme), life.signal);
  el.append(root);
  const endings: (() => void)[] = [() => life.abort()];
  let left = false;
  const start = async (): Promise<void> => {
    root.replaceChildren();
    showStill(root, model);
    const client = widgetClient(model);
    const timer = setTimeout(() => showWaiting(root), PATIENCE);
    endings.push(() => client.close());
    try {
      const store = new Store(client, await client.ask("cube", {}));
      if (left) return;
      root.replaceChildren();
      endings.unshift(mount(root, store));
      endings.unshift(follow(store, model), () => store.stop());
    } catch (error) {
      client.close();
      if (left) return;
      const gate = document.createElement("div");
      root.replaceChildren(gate);
      showRefusal(gate, refusalOf(error), () => void start());
      showStill(root, model);
    } finally {
      clearTimeout(timer);
    }
  };
  void start();
  return () => {
    left = true;
    for (const end of endings) end();
    root.remove();
  };
}

/** The picture from the kernel, which is shown until the page is ready. */
function showStill(root: HTMLElement, model: Model): void {
  const source = model.get("still");
  if (typeof source !== "string" || !source.startsWith("data:image/")) return;
  const picture = document.createElement("img");
  picture.className = "still";
  picture.alt = "the network when the cell was run";
  picture.src = source;
  root.append(picture);
}

/** A note while waiting: a kernel answers when its cell is done. */
function showWaiting(root: HTMLElement): void {
  const word = document.createElement("p");
  word.className = "waiting";
  word.role = "status";
  word.textContent = WAITING;
  root.prepend(word);
}

/** Synchronises the requests of page and model; returns a function that ends it. */
function follow(store: Store, model: Model): () => void {
  const asked = (): NetworkRequest => ({ query: [], ...(model.get("request") as NetworkRequest | undefined) });
  const leave = store.subscribe((changed) => {
    if (changed.has("network")) {
      const shown = store.network ? shortest(store.request) : { query: [] };
      if (!same(shortest(asked()), shown)) {
        model.set("request", shown);
        model.save_changes();
      }
    }
    if (changed.has("selected") && !sameNode((model.get("node") ?? null) as Node | null, store.selected)) {
      model.set("node", store.selected);
      model.save_changes();
    }
  });
  const moved = (): void => {
    const request = asked();
    if (!same(shortest(request), shortest(store.request))) {
      const unsaid = Object.fromEntries(Object.keys(store.request).map((word) => [word, undefined]));
      void store.move({ ...unsaid, ...request });
    }
  };
  const clicked = (): void => store.select((model.get("node") ?? null) as Node | null);
  model.on("change:request", moved);
  model.on("change:node", clicked);
  void store.open(asked());
  return () => {
    leave();
    model.off("change:request", moved);
    model.off("change:node", clicked);
  };
}

export default { render };
