// Why a cell or an object is in the network or not: a sentence, then small tables.
import "./why.css";
import { actionButtons } from "./actions";
import { columnText, percent, valueText } from "./cells";
import { refusalOf, stopped } from "./client";
import { completing } from "./completion";
import { counted, el, fill, number } from "./dom";
import type { BringingCell, CellExplanation, Lift, NearMiss, ObjectExplanation, QueryLink } from "./explanations";
import { shortName } from "./geometry";
import { sameNode } from "./nodes";
import type { Store } from "./state";
import type { NetworkRequest, ExplainAnswer, Id, NameRow, Node } from "./types";
import { whenVisible } from "./tabs";
import { plain, sentence } from "./words";

/** Maximum number of similar names offered. */
const NEAREST = 3;

export function mountWhy(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("why");
  const input = el("input", { type: "search", placeholder: "Why is … in the network, or not?", "aria-label": "Object or cell to explain" });
  const choose = (id: Id): void => {
    input.value = "";
    unknown = null;
    if (sameNode(store.selected, { object: id })) request();
    else store.select({ object: id });
  };
  const find = async (text: string, signal: AbortSignal) => {
    const { candidates } = await store.client.ask("complete", { text, most: 8 }, { signal });
    return candidates.map((each) => ({ text: shortName(each.name, 80), about: each.about, take: () => choose(each.id) }));
  };
  const box = completing(input, find, { missing: (text) => void lookUp(text) });
  const body = el("div", { class: "why-body" });
  const said = el("p", { class: "aside", "aria-live": "polite" });
  root.append(el("div", { class: "why-search" }, box), said, body);
  let flight: AbortController | null = null;
  let answered = false;
  /** The message for a name without an object. */
  let unknown: HTMLElement | null = null;

  /** Explains the object of a name; shows a message if there is none, or several. */
  async function lookUp(text: string): Promise<void> {
    try {
      const { rows } = await store.client.ask("names", { text: `object\n"${text.replaceAll('"', '""')}"` });
      const row = rows[0];
      if (input.value.trim() !== text) return;
      if (row && row.id !== null) return choose(row.id);
      unknown = unknownName(text, row, choose);
    } catch (error) {
      unknown = el("p", { class: "why-refused" }, sentence(refusalOf(error).sentence));
    }
    said.textContent = unknown.textContent;
    if (store.selected === null) request();
    else store.select(null);
  }

  const explain = async (): Promise<void> => {
    flight?.abort();
    const { network, selected } = store;
    answered &&= network !== null;
    if (selected !== null) unknown = null;
    if (unknown !== null) {
      answered = false;
      body.classList.remove("waiting");
      return fill(body, unknown);
    }
    if (network === null) return fill(body, el("p", { class: "quiet" }, "Click a node of the network to see why it is there."));
    const mine = (flight = new AbortController());
    if (!answered) fill(body, el("p", { class: "quiet" }, "Finding the reasons…"));
    body.classList.add("waiting");
    try {
      const asked = selected === null ? { request: network.request } : { request: network.request, node: selected };
      const answer = await store.client.ask("explain", asked, { signal: mine.signal });
      if (mine.signal.aborted) return;
      answered = true;
      show(body, store, selected, answer);
      if (selected !== null) said.textContent = shortName(sentenceOf(answer.sentence), 400);
    } catch (error) {
      if (stopped(error) || mine.signal.aborted) return;
      fill(body, el("p", { class: "why-refused" }, refusalOf(error).sentence));
    }
    body.classList.remove("waiting");
  };
  const request = whenVisible(root, () => void explain(), ended);
  store.subscribe((changed) => {
    if (changed.has("selected") || changed.has("network")) request();
  }, ended);
  request();
}

/** Shows that no object has a name, or that several have, with suggestions. */
function unknownName(text: string, row: NameRow | undefined, choose: (id: Id) => void): HTMLElement {
  const near = (row?.candidates ?? []).slice(0, NEAREST).flatMap(({ id, name }, at) => [at > 0 && ", ", el("button", { type: "button", class: "link", onclick: () => choose(id) }, el("bdi", {}, shortName(name, 80)))]);
  const name = el("bdi", {}, `“${shortName(text, 80)}”`);
  if (row?.state === "ambiguous") return el("p", {}, "Several objects are called ", name, ": ", ...near, ".");
  return el("p", {}, name, " is not in the cube.", ...(near.length > 0 ? [" Did you mean ", ...near, "?"] : []));
}

function show(body: HTMLElement, store: Store, node: Node | null, answer: ExplainAnswer): void {
  const sentence = sentenceOf(answer.sentence);
  if (node === null || answer.kind === "account") {
    return fill(body, el("p", { class: "why-sentence" }, sentence), el("p", { class: "quiet" }, "Click a node or a cell to see why it is in the network, or enter a name above to see why it is missing."));
  }
  const parts = answer.kind === "cell" ? cellParts(store, answer.explanation as unknown as CellExplanation) : objectParts(store, answer.explanation as unknown as ObjectExplanation);
  const close = el("button", { type: "button", class: "bare", "aria-label": "Close the explanation", title: "Close the explanation", onclick: () => store.select(null) }, "×");
  fill(
    body,
    el("header", { class: "why-head" }, el("h3", {}, titleOf(answer)), close),
    el("div", { class: "why-acts", role: "group", "aria-label": "What to do with it" }, ...actionButtons(store, node)),
    answer.columns.length === 0 ? null : el("dl", { class: "why-columns" }, ...answer.columns.map(({ column, value }) => el("div", {}, el("dt", {}, el("bdi", {}, column)), el("dd", {}, el("bdi", {}, shortName(value, 200)))))),
    el("p", { class: "why-sentence" }, sentence),
    ...parts,
  );
}

const sentenceOf = (said: string): string => {
  const text = plain(said);
  return text === "" ? "" : text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
};

function titleOf(answer: ExplainAnswer): HTMLElement {
  if (answer.kind === "cell") return cellName((answer.explanation as unknown as CellExplanation).labels);
  return el("bdi", {}, shortName((answer.explanation as unknown as ObjectExplanation).name, 160));
}

function cellName(labels: readonly string[]): HTMLElement {
  return el("span", { class: "why-cell" }, ...labels.flatMap((label, at) => [at > 0 && el("span", { class: "quiet" }, " · "), el("bdi", {}, shortName(label, 80))]));
}

const nodeButton = (store: Store, node: Node, ...children: (HTMLElement | string)[]): HTMLElement =>
  el("button", { type: "button", class: "link", onclick: () => store.select(node) }, ...children);

const objectButton = (store: Store, id: Id, name: string): HTMLElement => nodeButton(store, { object: id }, el("bdi", {}, shortName(name, 80)));

const section = (title: string, ...children: (HTMLElement | false | null)[]): HTMLElement => el("section", {}, el("h4", {}, title), ...children);

// Objects

const CAME: Record<string, string> = {
  pinned: "It was pinned.",
  neighbor: "It is a neighbour: one of the objects closest to the query by links.",
  cells: "It is in a chosen cell.",
};

function objectParts(store: Store, told: ObjectExplanation): (HTMLElement | null)[] {
  const came = told.present ? (CAME[told.came] ?? `The method ${told.came} added it.`) : "It is not in the network.";
  const rank = told.rank === null ? "" : ` By personalised PageRank it is number ${number(told.rank)} of the ${number(told.ranked)} objects outside the query that links lead to.`;
  return [
    told.came === "query" ? null : section("Why it is here", el("p", {}, came + rank)),
    told.miss === null ? null : missPart(store, told.miss),
    told.cells.length === 0 ? null : section(`In ${counted(told.cells.length, "chosen cell")}`, cellTable(store, told.cells)),
    told.links.length === 0 ? null : section(`Linked to ${counted(told.linked, told.came === "query" ? "other object" : "object")} of the query`, linkTable(store, told.links, told.linked)),
    told.linked > 0 || told.paths.length === 0 ? null : section(`${counted(told.ways, "shortest path")} of ${told.steps ?? 0} links`, pathList(store, told)),
    told.note === "" ? null : el("p", { class: "quiet" }, sentenceOf(told.note)),
  ];
}

function missPart(store: Store, miss: NearMiss): HTMLElement {
  const go = (text: string, change: Partial<NetworkRequest>) => el("button", { type: "button", onclick: () => void store.move(change).catch((error: unknown) => store.refuse(error)) }, text);
  const { option, needed, cell, price, value } = miss;
  const called = { n_neighbors: "Neighbours", n_cells: "Cells", max_nodes: "Maximum number of nodes" }[option] ?? option;
  const steered = option === "n_neighbors" || option === "n_cells" || option === "max_nodes";
  return section(
    "How to include it",
    miss.obstacle !== "" && el("p", {}, sentenceOf(miss.obstacle)),
    miss.left_out !== "" && el("p", {}, sentenceOf(miss.left_out)),
    option !== "" &&
      needed !== null &&
      el(
        "div",
        { class: "why-offer" },
        el("p", {}, `${called} has to be ${miss.exact ? "" : miss.least ? "at least " : "about "}${number(needed)}${miss.now === null ? "" : `; it is ${number(miss.now)} now`}.`),
        steered && go(`Set ${called} to ${number(needed)}`, { [option]: needed }),
      ),
    cell !== null &&
      price !== null &&
      el(
        "div",
        { class: "why-offer" },
        el("p", {}, "The cheapest cell that contains it, ", nodeButton(store, { cell }, cellName(cell)), price > 0 ? `, costs ${valueText(price)}` : `, adds ${valueText(-price)}`, value === null ? "." : `: ${valueText(value)} with it.`),
        go("Pin this cell", { pins: [...(store.request.pins ?? []), { cell }] }),
      ),
    miss.note !== "" && el("p", { class: "quiet" }, sentenceOf(miss.note)),
  );
}

function cellTable(store: Store, cells: readonly BringingCell[]): HTMLElement {
  const gain = columnText(cells.map((cell) => cell.gain), true);
  return el(
    "table",
    {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "num" }, "#"), el("th", { scope: "col" }, "Cell"), el("th", { scope: "col", class: "num" }, "Gain"))),
    el(
      "tbody",
      {},
      ...cells.map((cell) =>
        el("tr", {}, el("td", { class: "num quiet" }, number(cell.rank)), el("td", {}, nodeButton(store, { cell: cell.labels }, cellName(cell.labels))), el("td", { class: "num" }, gain(cell.gain))),
      ),
    ),
  );
}

function linkTable(store: Store, links: readonly QueryLink[], linked: number): HTMLElement {
  const rows = links.map((link) => {
    const when = link.first === null ? "" : link.first === link.last ? String(link.first) : `${link.first}–${link.last}`;
    const kinds = [...link.kinds, when].filter((part) => part !== "").join(", ");
    const items = link.newest.map((item) =>
      el("li", {}, el("bdi", {}, shortName(item.title ?? item.id, 120)), item.time !== null && el("span", { class: "quiet" }, ` ${item.time}`)),
    );
    const more = (link.items ?? 0) - link.newest.length;
    return el(
      "li",
      {},
      el("div", { class: "why-link" }, objectButton(store, link.id, link.name), el("span", { class: "quiet" }, [kinds, link.items ? counted(link.items, "item") : "", `weight ${valueText(Number(link.weight.toFixed(2)))}`].filter(Boolean).join(" · "))),
      items.length > 0 && el("ul", { class: "why-items" }, ...items, more > 0 && el("li", { class: "quiet" }, `and ${number(more)} more`)),
    );
  });
  const more = linked - links.length;
  return el("ul", { class: "why-links" }, ...rows, more > 0 && el("li", { class: "quiet" }, `and ${counted(more, "lighter link")}`));
}

function pathList(store: Store, told: ObjectExplanation): HTMLElement {
  return el(
    "ul",
    { class: "why-paths" },
    ...told.paths.map((path) => el("li", {}, ...path.names.flatMap((name, at) => [at > 0 && " – ", objectButton(store, path.ids[at]!, name)]))),
  );
}

// Cells

function cellParts(store: Store, told: CellExplanation): (HTMLElement | null)[] {
  const signed = (value: number): string => `${value >= 0 ? "+" : "−"}${valueText(Math.abs(value))}`;
  const fact = (name: string, value: string, about: string) => el("div", { title: about }, el("dt", {}, name), el("dd", {}, value));
  return [
    el(
      "dl",
      { class: "why-facts" },
      told.in_turn === null ? null : fact("when chosen", signed(told.in_turn), "what it added when it was chosen"),
      fact("alone", signed(told.alone), "what it adds as the only cell"),
      fact(told.chosen ? "last" : "as one more", signed(told.last), told.chosen ? "what would be lost without it" : "what it would add"),
      fact("of the query", `${number(told.query_objects)} of ${number(told.queried)}`, "how many objects of the query it holds"),
      fact("objects", number(told.objects), "how many objects it holds"),
    ),
    section("More frequent in the query than in all data", liftTable([told.lift, ...told.label_lifts])),
    told.only === 0
      ? null
      : section(
          `${counted(told.only, "object")} no other chosen cell holds`,
          el("ul", { class: "why-only" }, ...told.only_first.map((each) => el("li", {}, objectButton(store, each.id, each.name), each.in_query && el("span", { class: "quiet" }, " query"))), told.only > told.only_first.length && el("li", { class: "quiet" }, `and ${number(told.only - told.only_first.length)} more`)),
        ),
  ];
}

function liftTable(lifts: readonly Lift[]): HTMLElement {
  return el(
    "table",
    { class: "why-lifts" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Label"), el("th", { scope: "col", class: "num" }, "Query"), el("th", { scope: "col", class: "num" }, "Cube"), el("th", { scope: "col", class: "num" }, "Times"))),
    el(
      "tbody",
      {},
      ...lifts.map((lift) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, lift.label === "" ? "the cell itself" : el("span", {}, el("bdi", {}, shortName(lift.label, 60)), el("span", { class: "quiet" }, ` ${lift.dimension}`))),
          el("td", { class: "num" }, percent(lift.query / Math.max(1, lift.queried))),
          el("td", { class: "num" }, percent(lift.everyone / Math.max(1, lift.objects))),
          el("td", { class: "num", title: `at 95 %: ${lift.low.toFixed(1)} to ${lift.high.toFixed(1)} times` }, `${lift.lift.toFixed(1)} ×`, el("span", { class: "quiet" }, ` ${lift.low.toFixed(1)}–${lift.high.toFixed(1)}`)),
        ),
      ),
    ),
  );
}
