import { el } from "./dom";
import type { Store } from "./state";

export function mountNetwork(root: HTMLElement, _store: Store): void {
  root.append(el("p", { class: "quiet" }, "The network is drawn here."));
}
