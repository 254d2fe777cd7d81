import { el } from "./dom";
import type { Store } from "./state";

export function mountContrast(root: HTMLElement, _store: Store): void {
  root.append(el("p", { class: "quiet" }, "Two queries side by side stand here."));
}
