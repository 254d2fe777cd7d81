import { el } from "./dom";
import type { Store } from "./state";

export function mountCells(root: HTMLElement, _store: Store): void {
  root.append(el("p", { class: "quiet" }, "The chosen cells stand here."));
}
