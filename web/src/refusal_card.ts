// Refused and stopped requests, and how to continue.
import { el, fill } from "./dom";
import type { Store } from "./state";
import { plain, sentence } from "./words";
import { same } from "./requests";
import type { NetworkRequest } from "./types";
import type { Refusal } from "./client";

/** Shows the sentence of a refusal, what was tried, and how to go back; the last network stays visible. */
export function mountRefusal(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("failed");
  root.setAttribute("role", "alert");
  const draw = (): void => {
    const { error, halted } = store;
    const request = error?.request ?? halted;
    root.hidden = request === null;
    if (request === null) return;
    const tried = store.network ? changes(store.network.request, request) : [];
    root.classList.toggle("calm", error === null);
    fill(
      root,
      el("p", {}, error ? sentence(plain(error.refusal.sentence)) : store.network ? "Stopped: the network shown is the one before." : "Stopped."),
      tried.length > 0 ? el("p", { class: "small quiet" }, `Tried: ${tried.join(", ")}.`) : null,
      el(
        "div",
        { class: "row" },
        store.network ? el("button", { type: "button", "data-do": "give-up", onclick: () => void store.giveUp() }, "Back to the network shown") : null,
        request.query.length === 0
          ? el("button", { type: "button", "data-do": "anew", onclick: () => void store.giveUp() }, "Start over")
          : el("button", { type: "button", "data-do": "retry", onclick: () => void store.retry() }, error ? "Retry" : "Continue"),
      ),
    );
  };
  store.subscribe((changed) => changed.has("error") && draw(), ended);
  draw();
}

const NAMES: Partial<Record<keyof NetworkRequest, string>> = { max_nodes: "maximum number of nodes", n_neighbors: "neighbours", n_cells: "cells", r: "cells per object", levels: "labels of a cell", roll_up: "levels rolled up", between: "time", where: "only" };

/** The fields in which two requests differ, in words. */
export function changes(before: NetworkRequest, after: NetworkRequest): string[] {
  const words = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((word) => word !== "cube") as (keyof NetworkRequest)[];
  return words
    .filter((word) => !same(before[word] ?? null, after[word] ?? null))
    .map((word) => `${NAMES[word] ?? word} ${brief(after[word])}`);
}

function brief(value: unknown): string {
  if (value === undefined || value === null) return "automatic";
  if (Array.isArray(value)) return value.length > 3 || value.some((one) => typeof one === "object") ? `of ${value.length}` : value.join(", ");
  if (typeof value === "object") return Object.entries(value).map(([word, one]) => `${word} ${brief(one)}`).join(", ");
  return String(value);
}

/** Shows a sentence and a Retry button in place of the page. */
export function showRefusal(root: HTMLElement, refusal: Refusal, retry: () => void): void {
  fill(
    root,
    el(
      "main",
      { class: "gate", role: "alert" },
      el("h1", {}, "cube2net"),
      el("p", {}, sentence(refusal.sentence)),
      el("button", { type: "button", class: "primary", onclick: retry }, "Retry"),
    ),
  );
}

/** Shows above the page, once, that it has to be reloaded. */
export function showMoved(root: HTMLElement, refusal: Refusal, reload: () => void): void {
  if (root.querySelector(":scope > .moved")) return;
  const again = el("button", { type: "button", class: "primary", "data-do": "reload", onclick: reload }, "Reload");
  root.prepend(el("div", { class: "moved row", role: "alert" }, el("p", {}, sentence(refusal.sentence)), again));
}
