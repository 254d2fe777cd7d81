// Progress of long work, with a Stop button.
import { el } from "./dom";
import { drawing } from "./header";
import type { Store } from "./state";

const UNSEEN = 150;
const LONG = 600;

/** Shows the stage, a bar and Stop if work takes longer; and a placeholder for the first network. */
export function mountProgress(root: HTMLElement, store: Store, ended: AbortSignal): void {
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
