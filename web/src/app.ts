// The frame of the page: header, what to ask and steer on the left, the network in the middle, reasons on the right.
import "./base.css";
import { mountCells } from "./cells";
import { mountContrast } from "./contrast";
import { el } from "./dom";
import { sentence } from "./gate";
import { mountNetwork } from "./graph";
import { mountPivot } from "./pivot";
import type { Store } from "./state";
import { mountWhy } from "./why";

export function mount(root: HTMLElement, store: Store): void {
  root.classList.add("c2n");
  const said = el("p", { class: "said", role: "status", "aria-live": "polite" });
  const names = el("textarea", { rows: 6, "aria-label": "Names" });
  const ask = async (): Promise<void> => {
    const answer = await store.client.ask("names", { text: names.value });
    const rows = answer.rows.filter((row) => row.state === "found");
    await store.move({ query: rows.map((row) => row.id as string), labels: answer.labelled ? rows.map((row) => row.label) : null });
  };
  const button = el("button", { type: "button", class: "primary", onclick: () => void ask().catch((error) => store.refuse(error)) }, "Make the network");
  const network = el("section", { class: "network" });
  const cells = el("section");
  const pivot = el("section");
  const why = el("section");
  const contrast = el("section");
  root.append(el("header", {}, el("h1", {}, store.cube.name), said), el("main", {}, names, button, network, pivot, why, cells, contrast));
  mountNetwork(network, store);
  mountCells(cells, store);
  mountPivot(pivot, store);
  mountWhy(why, store);
  mountContrast(contrast, store);
  const say = (): void => {
    const text = store.error ? store.error.refusal.sentence : (store.network?.sentence ?? store.cube.sentence);
    if (said.textContent !== sentence(text)) said.textContent = sentence(text);
  };
  store.subscribe(say);
  say();
}
