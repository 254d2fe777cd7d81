// All nodes of the network as a sortable table with pages, also for screen readers.
import { counted, el, fill, number } from "./dom";
import { shortName } from "./geometry";
import type { Model } from "./graph_model";
import type { Store } from "./state";
import type { NetworkAnswer, Node } from "./types";

const ROLES = { query: "query", neighbor: "neighbour", brought: "added object", pinned: "pinned", cell: "cell" };
const PAGE = 50;
type Column = "name" | "role" | "label" | "links" | "cells";
const TITLES: Record<Column, string> = { name: "Name", role: "Role", label: "Label", links: "Links", cells: "Chosen cells" };

/** Positions of nodes in the order of a column (stable). */
export function sortedNodes(network: NetworkAnswer, degrees: ArrayLike<number>, column: Column, down: boolean): number[] {
  const { name, role, label, cells } = network.nodes;
  const order = name.map((_, at) => at);
  const compare: Record<Column, (a: number, b: number) => number> = {
    name: (a, b) => name[a]!.localeCompare(name[b]!),
    role: (a, b) => role[a]!.localeCompare(role[b]!),
    label: (a, b) => label[a]!.localeCompare(label[b]!),
    links: (a, b) => degrees[a]! - degrees[b]!,
    cells: (a, b) => cells[a]!.length - cells[b]!.length,
  };
  const by = compare[column];
  return order.sort((a, b) => (down ? -by(a, b) : by(a, b)) || a - b);
}

export function mountNodeTable(root: HTMLDetailsElement, store: Store, model: () => Model | null, choose: (node: Node) => void): void {
  const summary = el("summary", {}, "All nodes as a table");
  const body = el("div", { class: "graph-table" });
  root.append(summary, body);
  let column: Column = "links";
  let down = true;
  let page = 0;
  const draw = (): void => {
    const [now, network] = [model(), store.network];
    summary.textContent = now === null ? "All nodes as a table" : `All ${counted(now.size, "node")} as a table`;
    if (!root.open || now === null || network === null) return fill(body);
    const order = sortedNodes(network, now.degrees, column, down);
    const pages = Math.max(1, Math.ceil(order.length / PAGE));
    page = Math.min(page, pages - 1);
    const head = (Object.keys(TITLES) as Column[]).map((each) =>
      el(
        "th",
        { scope: "col", "aria-sort": each === column ? (down ? "descending" : "ascending") : "none", class: each === "links" || each === "cells" ? "num" : null },
        el("button", { type: "button", class: "sort", onclick: () => sort(each) }, TITLES[each]),
      ),
    );
    const rows = order.slice(page * PAGE, (page + 1) * PAGE).map((at) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => choose(now.nodes[at]!) }, el("bdi", {}, shortName(now.names[at]!, 80)))),
        el("td", {}, ROLES[network.nodes.role[at]!]),
        el("td", {}, el("bdi", {}, shortName(network.nodes.label[at]!, 60))),
        el("td", { class: "num" }, number(now.degrees[at]!)),
        el("td", { class: "num" }, number(network.nodes.cells[at]!.length)),
      ),
    );
    const turn = (text: string, by: number) =>
      el("button", { type: "button", disabled: page + by < 0 || page + by >= pages, onclick: () => { page += by; draw(); } }, text);
    fill(
      body,
      el("div", { class: "graph-scroll", tabindex: 0, role: "region", "aria-label": "All nodes" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))),
      el("p", { class: "graph-pages" }, turn("Before", -1), ` page ${number(page + 1)} of ${number(pages)} `, turn("Next", 1)),
    );
  };
  const sort = (wanted: Column): void => {
    down = wanted === column ? !down : wanted === "links" || wanted === "cells";
    [column, page] = [wanted, 0];
    draw();
    body.querySelector<HTMLElement>(`th[aria-sort]:not([aria-sort=none]) button`)?.focus();
  };
  root.addEventListener("toggle", draw);
  store.subscribe((changed) => changed.has("network") && setTimeout(draw, 0));
  draw();
}
