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
  /** The first suggestion for every name that is not in the cube. */
  takeSuggested(): void;
  /** All who bear the name of an entry, told apart. */
  bearers(one: SureEntry): Promise<Candidate[]>;
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
  /** The object in whose place another of its name may be chosen, and these once they are known. */
  let asked: SureEntry | null = null;
  let others: Candidate[] = [];

  async function openChoice(one: SureEntry): Promise<void> {
    asked = asked === one ? null : one;
    others = one.candidates;
    redraw();
    if (asked === null) return;
    const found = await acts.bearers(one).catch(() => one.candidates);
    if (asked !== one) return;
    others = found;
    redraw();
  }

  const redraw = (): void => drawChips(labelNumbers(draft.sure.map((one) => one.label)));

  function drawTrouble(refused: string | null): void {
    const { unsure, suggested } = draft;
    const every = unsure.filter((one) => one.state === "missing" && one.candidates.length > 0).length === suggested.length;
    const leave = el("button", { type: "button", "data-do": "leave-out", onclick: () => acts.dropUnsure() }, "Leave them out");
    const take = el("button", { type: "button", "data-do": "take-suggested", onclick: () => acts.takeSuggested() }, every ? "Take all suggestions" : `Take ${number(suggested.length)} suggestions`);
    const several = suggested.length > 1;
    fill(
      trouble,
      refused ? el("li", { class: "bad", role: "alert" }, refused) : null,
      ...unsure.slice(0, UNSURE).map((one) => unsureRow(one, acts)),
      unsure.length > 1 ? el("li", { class: "row between" }, el("span", {}, `${number(unsure.length)} names mean nobody yet`), several ? take : null, leave) : null,
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
      ...shown.flatMap((one) => [
        chip(one, labelClass(numbers, one.label), acts, one === asked, (each) => void openChoice(each)),
        one === asked ? el("li", { class: "choice" }, candidates(one, others, acts)) : null,
      ]),
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

function chip(one: SureEntry, label: string, acts: Acts, isOpen: boolean, open: (one: SureEntry) => void): HTMLElement {
  return el(
    "li",
    { class: `chip ${label}`, title: one.label === "" ? null : one.label },
    el("span", { class: "dot" }),
    el("button", { type: "button", class: "name", onclick: () => acts.select(one.id) }, one.name),
    one.bearers !== undefined && one.bearers > 1
      ? el("button", { type: "button", class: "bearers", "aria-expanded": String(isOpen), title: "Choose another of the same name", onclick: () => open(one) }, `1 of ${number(one.bearers)} called so`)
      : null,
    el("button", { type: "button", class: "remove", "aria-label": `Remove ${one.name}`, onclick: () => acts.drop(one) }, "×"),
  );
}

/** A name that several bear, or none, with those who may be meant. */
function unsureRow(one: Entry, acts: Acts): HTMLElement {
  const many = one.state === "ambiguous";
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
    candidates(one, one.candidates, acts),
  );
}

/** Those who may be meant, told apart, as buttons; the one that is meant now is marked. */
function candidates(one: Entry, offered: readonly Candidate[], acts: Acts): HTMLElement {
  const button = (each: Candidate): HTMLElement =>
    el(
      "button",
      { type: "button", "aria-pressed": one.id === null ? null : String(String(each.id) === String(one.id)), onclick: () => acts.choose(one, each) },
      el("span", {}, each.name),
      about(each) ? el("span", { class: "about" }, about(each)) : null,
    );
  return el("div", { class: "candidates" }, ...offered.map(button));
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
