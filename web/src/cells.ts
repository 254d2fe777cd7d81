// The chosen cells as a table: gain, share of the query, and a preview of the network without a cell.
import "./cells.css";
import { refusalOf, stopped } from "./client";
import { counted, el, fill, number } from "./dom";
import { shortName } from "./geometry";
import { spotlightOf } from "./spotlight";
import { nodeKey } from "./nodes";
import type { Store } from "./state";
import type { ChosenCell, NetworkAnswer, Node } from "./types";
import { plain, sentence, valueLine } from "./words";

const PAUSE = 220;
const SHOWN = 100;
type Column = "rank" | "title" | "gain" | "objects" | "share";
const TITLES: Record<Column, string> = { rank: "#", title: "Cell", gain: "Gain", objects: "Size", share: "Query" };
const ABOUT: Record<Column, string> = {
  rank: "in the order chosen",
  title: "its labels",
  gain: "what it added to the value when it was chosen",
  objects: "how many objects it holds",
  share: "which share of the query it holds",
};

/** Format a value; whole numbers without decimals. */
export function valueText(value: number): string {
  if (value < 0) return `−${valueText(-value)}`;
  if (Number.isInteger(value)) return number(value);
  return value >= 5e-4 ? value.toLocaleString("en-US", { maximumFractionDigits: 4 }) : value.toExponential(1).replace("e-", " · 10^−");
}

/** A formatter for the values of one column: equal numbers of decimals, a true minus, and a plus if wanted. */
export function columnText(values: readonly number[], signed = false): (value: number) => string {
  const whole = values.every(Number.isInteger);
  const least = values.reduce((small, value) => (value === 0 ? small : Math.min(small, Math.abs(value))), Infinity);
  const decimals = whole ? 0 : Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(Math.max(1e-5, least)))));
  return (value) => {
    const text = Math.abs(value).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    return (value < 0 ? "−" : signed ? "+" : "") + text;
  };
}

export const percent = (share: number): string => `${share > 0 && share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share)} %`;

/** Positions of cells in the order of a column. */
export function sortedCells(cells: readonly ChosenCell[], column: Column, down: boolean): number[] {
  const by = (a: number, b: number): number => {
    const [one, two] = [cells[a]!, cells[b]!];
    if (column === "title") return one.title.localeCompare(two.title);
    return column === "rank" ? a - b : one[column] - two[column];
  };
  return cells.map((_, at) => at).sort((a, b) => (down ? -by(a, b) : by(a, b)) || a - b);
}

const HINT = "Point at a cell to see the network without it.";

export function mountCells(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("cells");
  const proof = el("div", { class: "cells-proof" });
  const told = el("p", { class: "cells-told", "aria-live": "polite" });
  const table = el("div", { class: "cells-table" });
  root.append(proof, told, table);
  const spotlight = spotlightOf(store);
  let column: Column = "rank";
  let down = false;
  let all = false;
  let timer = 0;
  let flight: AbortController | null = null;
  const hint = (): string => `${HINT}${store.network?.cells.some(({ labels }) => labels.includes("∗")) ? " ∗ stands for any label." : ""}`;

  const leave = (): void => {
    clearTimeout(timer);
    flight?.abort();
    spotlight.show(null);
    told.textContent = hint();
  };
  const ask = async (node: Node, name: string): Promise<void> => {
    const network = store.network;
    if (network === null) return;
    flight = new AbortController();
    const { signal } = flight;
    told.textContent = `Without ${name} …`;
    try {
      const answer = await store.client.ask("without", { request: network.request, without: [node] }, { signal });
      if (signal.aborted || store.network !== network) return;
      told.textContent = sentence(plain(answer.sentence));
      spotlight.show({ nodes: [node], came: answer.entered, went: answer.left });
    } catch (error) {
      if (!stopped(error) && !signal.aborted) told.textContent = refusalOf(error).sentence;
    }
  };
  const point = (cell: ChosenCell): void => {
    clearTimeout(timer);
    flight?.abort();
    const node = { cell: cell.labels };
    spotlight.show({ nodes: [node, ...held(store.network, cell.labels)] });
    timer = window.setTimeout(() => void ask(node, shortName(cell.title, 60)), PAUSE);
  };

  const row = (network: NetworkAnswer, at: number, largest: number, gain: (value: number) => string): HTMLElement => {
    const cell = network.cells[at]!;
    const node: Node = { cell: cell.labels };
    const bar = el("span", { class: "cells-bar" });
    bar.style.width = `${Math.max(2, (100 * cell.share) / largest)}%`;
    const act = (text: string, label: string, run: () => Promise<void>, on: boolean) =>
      el("button", { type: "button", class: "bare", "aria-label": label, title: label, "aria-pressed": String(on), onclick: () => void run().catch((error: unknown) => store.refuse(error)) }, text);
    const name = shortName(cell.title, 80);
    return el(
      "tr",
      {
        "data-cell": nodeKey(node),
        class: store.selected !== null && nodeKey(store.selected) === nodeKey(node) ? "selected" : null,
        onpointerenter: () => point(cell),
        onpointerleave: leave,
        onfocusin: () => point(cell),
        onfocusout: leave,
      },
      el("td", { class: "num quiet" }, number(at + 1)),
      el(
        "th",
        { scope: "row" },
        el(
          "button",
          { type: "button", class: "link cells-name", title: shortName(cell.title, 300), onclick: () => store.select(node) },
          ...cell.labels.flatMap((label, place) => [place > 0 && el("span", { class: "quiet" }, " · "), el("bdi", {}, shortName(label, 60))]),
        ),
        cell.pinned && el("span", { class: "cells-pinned" }, "pinned"),
      ),
      el(
        "td",
        { class: "num cells-gain" },
        gain(cell.gain),
        el(
          "span",
          { class: "cells-acts" },
          act(cell.pinned ? "Unpin" : "Pin", `${cell.pinned ? "Unpin" : "Pin"} ${name}`, () => store.togglePin(node), cell.pinned),
          act("Ban", `Ban ${name}`, () => store.toggleBan(node), false),
        ),
      ),
      el("td", { class: "num" }, number(cell.objects)),
      el("td", { class: "num cells-share" }, el("span", { class: "cells-number" }, number(cell.query_objects), el("span", { class: "quiet" }, ` ${percent(cell.share)}`)), el("span", { class: "cells-track" }, bar)),
    );
  };

  const draw = (): void => {
    const { network } = store;
    drawProof(proof, network);
    told.hidden = network === null || network.cells.length === 0;
    if (told.textContent === "" || told.textContent?.startsWith(HINT)) told.textContent = hint();
    if (network === null) return fill(table);
    if (network.cells.length === 0) return fill(table, el("p", { class: "quiet pad" }, network.note === "" ? "No cell is chosen: the method uses links only." : `No cell is chosen: ${sentence(plain(network.note))}`));
    const order = sortedCells(network.cells, column, down);
    const largest = network.cells.reduce((most, cell) => Math.max(most, cell.share), 1e-9);
    const shown = all ? order : order.slice(0, SHOWN);
    const head = (Object.keys(TITLES) as Column[]).map((each) =>
      el(
        "th",
        { scope: "col", "aria-sort": each === column ? (down ? "descending" : "ascending") : "none", class: each === "title" ? null : "num" },
        el("button", { type: "button", class: "sort", title: ABOUT[each], onclick: () => sort(each) }, TITLES[each]),
      ),
    );
    const gain = columnText(network.cells.map((cell) => cell.gain), true);
    fill(
      table,
      network.cells.some((cell) => cell.gain < 0) && el("p", { class: "quiet small pad" }, "A negative gain: the cell lowers the value. It was pinned, or more cells were requested than improve the value."),
      el(
        "table",
        {},
        el("caption", { class: "aside" }, "The chosen cells"),
        el("thead", {}, el("tr", {}, ...head)),
        el("tbody", {}, ...shown.map((at) => row(network, at, largest, gain))),
      ),
      shown.length < order.length && el("button", { type: "button", class: "cells-more", onclick: () => { all = true; draw(); } }, `Show all ${counted(order.length, "cell")}`),
    );
  };
  const sort = (wanted: Column): void => {
    down = wanted === column ? !down : wanted !== "rank" && wanted !== "title";
    column = wanted;
    draw();
    table.querySelector<HTMLElement>("th[aria-sort]:not([aria-sort=none]) button")?.focus();
  };
  store.subscribe((changed) => {
    if (changed.has("network")) {
      leave();
      draw();
    } else if (changed.has("selected")) mark(table, store.selected);
  }, ended);
  ended.addEventListener("abort", leave);
  draw();
}

/** The objects of the network that a cell holds. */
function held(network: NetworkAnswer | null, labels: readonly string[]): Node[] {
  if (network === null) return [];
  const rank = 1 + network.cells.findIndex((cell) => cell.labels.join("\0") === labels.join("\0"));
  return network.nodes.id.flatMap((id, at) => (network.nodes.labels[at] == null && network.nodes.cells[at]!.includes(rank) ? [{ object: id }] : []));
}

function drawProof(proof: HTMLElement, network: NetworkAnswer | null): void {
  if (network === null) return fill(proof, el("p", { class: "quiet" }, "The cells of the network are listed here."));
  const { value, bound, proven, certificate, summary } = network;
  const objective = String(summary.objective ?? "");
  const about = valueLine(objective, Number(network.request.r ?? 3));
  if (value === null) return fill(proof);
  const share = bound !== null && bound > 0 ? value / bound : null;
  const bar = el("span", {});
  if (share !== null) bar.style.width = `${Math.min(100, 100 * share)}%`;
  fill(
    proof,
    el(
      "dl",
      {},
      el("div", {}, el("dt", { title: about || null }, objective === "cover" ? "Cover" : "Value"), el("dd", {}, valueText(value))),
      bound !== null && el("div", {}, el("dt", {}, proven ? "Best possible" : "Upper bound"), el("dd", {}, valueText(bound))),
      el("div", {}, el("dt", {}, "Cells"), el("dd", {}, number(network.cells.length))),
    ),
    share !== null && el("div", { class: "cells-proof-bar", role: "img", "aria-label": `The value is ${percent(share)} of the upper bound` }, bar),
    about !== "" && el("p", { class: "quiet small" }, about),
    certificate !== "" && el("p", {}, certificate.charAt(0).toUpperCase() + certificate.slice(1) + "."),
  );
}

function mark(table: HTMLElement, selected: Node | null): void {
  const key = selected === null ? "" : nodeKey(selected);
  for (const row of table.querySelectorAll<HTMLElement>("tbody tr")) row.classList.toggle("selected", row.dataset.cell === key);
}
