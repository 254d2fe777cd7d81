// What was refused or stopped, and the ways back.
import { changes } from "./changes";
import { el, fill } from "./dom";
import { sentence } from "./sentences";
import type { Store } from "./state";
import { plain } from "./words";

/** The sentence of a refusal, what was tried, and a way back; the last network stays below. */
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
