// What stands in place of the page while there is no cube to show, or above it when that is another one.
import type { Refusal } from "./client";
import { el, fill } from "./dom";
import { sentence } from "./sentences";

/** One sentence, and a button to try again. */
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

/** Says above the page that it asks in vain, once, with a button to load it again; what it shows stays. */
export function showMoved(root: HTMLElement, refusal: Refusal, reload: () => void): void {
  if (root.querySelector(":scope > .moved")) return;
  const again = el("button", { type: "button", class: "primary", "data-do": "reload", onclick: reload }, "Reload");
  root.prepend(el("div", { class: "moved row", role: "alert" }, el("p", {}, sentence(refusal.sentence)), again));
}
