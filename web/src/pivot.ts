import { el } from "./dom";
import type { Store } from "./state";

export function mountPivot(root: HTMLElement, _store: Store): void {
  root.append(el("p", { class: "quiet" }, "The cube as a table stands here."));
}
