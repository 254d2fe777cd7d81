import { el } from "./dom";
import type { Store } from "./state";

export function mountWhy(root: HTMLElement, _store: Store): void {
  root.append(el("p", { class: "quiet" }, "Click a node to see why it is there."));
}
