// What stands in place of the page while there is no cube to show.
import type { Refusal } from "./client";
import { el, fill } from "./dom";

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

/** A lower-case sentence of the library as people write one. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
