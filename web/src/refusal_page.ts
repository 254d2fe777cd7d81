// What stands in place of the page while there is no cube to show.
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
