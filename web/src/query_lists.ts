// The query to be as lists: names to clear up, labels with their colours, and the objects.
import { labelClass, labelNumbers } from "./colours";
import { counted, el, fill, number } from "./dom";
import { about } from "./names_field";
import type { Draft, Entry, SureEntry } from "./query_draft";
import type { Candidate, Id } from "./types";

/** So many objects and names that mean nobody are listed without a word. */
const SHOWN = 200;
const UNSURE = 50;
/** So many labels are listed. */
const LABELS = 24;

export interface Acts {
  choose(one: Entry, candidate: Candidate): void;
  drop(one: Entry): void;
  dropUnsure(): void;
  select(id: Id): void;
}

export interface QueryLists {
  readonly trouble: HTMLElement;
  readonly legend: HTMLElement;
  readonly chips: HTMLElement;
  /** Draws all of them, below a sentence where something was refused. */
  draw(refused: string | null): void;
}

export function queryLists(draft: Draft, acts: Acts): QueryLists {
  const trouble = el("ul", { class: "trouble" });
  const legend = el("ul", { class: "legend", "aria-label": "Labels of the query" });
  const chips = el("ul", { class: "chips", "aria-label": "Objects of the query" });
  let all = false;

  function drawTrouble(refused: string | null): void {
    const { unsure } = draft;
    const leave = el("button", { type: "button", "data-do": "leave-out", onclick: () => acts.dropUnsure() }, "Leave them out");
    fill(
      trouble,
      refused ? el("li", { class: "bad", role: "alert" }, refused) : null,
      ...unsure.slice(0, UNSURE).map((one) => unsureRow(one, acts)),
      unsure.length > 1 ? el("li", { class: "row between" }, el("span", {}, `${number(unsure.length)} names mean nobody yet`), leave) : null,
    );
  }

  function drawChips(numbers: ReadonlyMap<string, number>): void {
    const { sure } = draft;
    const shown = all ? sure : sure.slice(0, SHOWN);
    const showAll = (): void => {
      all = true;
      drawChips(numbers);
    };
    fill(
      chips,
      ...shown.map((one) => chip(one, labelClass(numbers, one.label), acts)),
      shown.length < sure.length
        ? el("li", {}, el("button", { type: "button", class: "bare", onclick: showAll }, `Show ${number(sure.length - shown.length)} more`))
        : null,
    );
  }

  return {
    trouble,
    legend,
    chips,
    draw(refused) {
      const labels = draft.sure.map((one) => one.label);
      const numbers = labelNumbers(labels);
      drawTrouble(refused);
      fill(legend, ...legendRows(labels, numbers));
      drawChips(numbers);
    },
  };
}

function chip(one: SureEntry, label: string, acts: Acts): HTMLElement {
  return el(
    "li",
    { class: `chip ${label}`, title: one.label === "" ? null : one.label },
    el("span", { class: "dot" }),
    el("button", { type: "button", class: "name", onclick: () => acts.select(one.id) }, one.name),
    el("button", { type: "button", class: "remove", "aria-label": `Remove ${one.name}`, onclick: () => acts.drop(one) }, "×"),
  );
}

/** A name that several bear, or none, with those who may be meant. */
function unsureRow(one: Entry, acts: Acts): HTMLElement {
  const many = one.state === "ambiguous";
  const candidate = (each: Candidate): HTMLElement =>
    el(
      "button",
      { type: "button", onclick: () => acts.choose(one, each) },
      el("span", {}, each.name),
      about(each) ? el("span", { class: "about" }, about(each)) : null,
    );
  return el(
    "li",
    { class: one.state, "data-given": one.given },
    el(
      "div",
      { class: "row" },
      el("strong", {}, one.given),
      el("span", { class: "tag" }, many ? "which one?" : "not in the cube"),
      el("button", { type: "button", class: "remove", "aria-label": `Remove ${one.given}`, onclick: () => acts.drop(one) }, "×"),
    ),
    one.candidates.length > 0 && !many ? el("p", { class: "small quiet" }, "Did you mean") : null,
    el("div", { class: "candidates" }, ...one.candidates.map(candidate)),
  );
}

function legendRows(labels: readonly string[], numbers: ReadonlyMap<string, number>): HTMLElement[] {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const rows = [...numbers.keys()].slice(0, LABELS).map((label) =>
    el(
      "li",
      { class: labelClass(numbers, label) },
      el("span", { class: "dot" }),
      el("span", { class: "name" }, label),
      el("span", { class: "quiet" }, number(counts.get(label) ?? 0)),
    ),
  );
  const more = numbers.size - rows.length;
  return more > 0 ? [...rows, el("li", { class: "quiet" }, `and ${counted(more, "more label")}`)] : rows;
}
