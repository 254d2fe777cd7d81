// What is going on: progress with a way to stop it, and refusals with a way back.
import { changes } from "./changes";
import { el, fill } from "./dom";
import { sentence } from "./gate";
import { drawing } from "./header";
import type { Store } from "./state";

const UNSEEN = 150;
const LONG = 600;

/** A card with the stage, a bar and Stop, once work takes longer than a moment; a drawing in place of a first network. */
export function mountGoing(root: HTMLElement, store: Store, ended: AbortSignal): void {
  const stage = el("span", {}, "");
  const stop = el("button", { type: "button", "data-do": "stop", onclick: () => store.stop() }, "Stop");
  const bar = el("progress", { "aria-label": "Progress" });
  const card = el("div", { class: "going", hidden: true }, el("div", { class: "row" }, stage, stop), bar);
  const skeleton = el("div", { class: "skeleton", hidden: true, "aria-hidden": "true" }, drawing("0 0 120 80", 120, "M20 40a4 4 0 1 0 .1 0 M60 18a5 5 0 1 0 .1 0 M98 36a4 4 0 1 0 .1 0 M48 62a5 5 0 1 0 .1 0 M84 66a3 3 0 1 0 .1 0 M24 42 55 23 M65 23 94 38 M25 46 43 65 M59 28 50 61 M53 67 81 69 M96 44 86 65"));
  root.append(skeleton, card);
  let since = 0;
  let timer = 0;
  const draw = (): void => {
    clearTimeout(timer);
    if (!store.busy) {
      since = 0;
      card.hidden = true;
      skeleton.hidden = true;
      return;
    }
    since ||= performance.now();
    const waited = performance.now() - since;
    skeleton.hidden = store.places !== null || waited < UNSEEN;
    card.hidden = waited < LONG;
    const { what, told } = store.busy;
    stage.textContent = told ? `${told.stage}${told.total ? ` ${told.done} of ${told.total}` : ""}` : what === "layout" ? "Placing the nodes" : "Making the network";
    if (told?.total) Object.assign(bar, { max: told.total, value: told.done });
    else bar.removeAttribute("value");
    const next = [UNSEEN, LONG].find((limit) => waited < limit);
    if (next !== undefined) timer = window.setTimeout(draw, next - waited + 1);
  };
  store.subscribe((changed) => (changed.has("busy") || changed.has("places")) && draw(), ended);
}

/** The sentence of a refusal, what was tried, and a way back; the last network stays below. */
export function mountFailed(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("failed");
  root.setAttribute("role", "alert");
  const draw = (): void => {
    const { error, halted } = store;
    const ask = error?.ask ?? halted;
    root.hidden = ask === null;
    if (ask === null) return;
    const tried = store.network ? changes(store.network.ask, ask) : [];
    root.classList.toggle("calm", error === null);
    fill(
      root,
      el("p", {}, error ? sentence(error.refusal.sentence) : store.network ? "Stopped: the network shown is the one before." : "Stopped."),
      tried.length > 0 ? el("p", { class: "small quiet" }, `Tried: ${tried.join(", ")}.`) : null,
      el(
        "div",
        { class: "row" },
        store.network ? el("button", { type: "button", "data-do": "give-up", onclick: () => void store.giveUp() }, "Back to the network shown") : null,
        ask.query.length === 0
          ? el("button", { type: "button", "data-do": "anew", onclick: () => void store.giveUp() }, "Begin anew")
          : el("button", { type: "button", "data-do": "retry", onclick: () => void store.retry() }, error ? "Retry" : "Go on"),
      ),
    );
  };
  store.subscribe((changed) => changed.has("error") && draw(), ended);
  draw();
}
