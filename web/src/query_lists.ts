// The draft as lists: the table of names to repair, labels with colours, and objects.
import { labelClass, labelNumbers } from "./colours";
import { counted, el, fill, number } from "./dom";
import { about } from "./names_field";
import { clearlyMeant, type Draft, type Entry, type SureEntry } from "./query_draft";
import type { Candidate, Id } from "./types";

/** Number of rows listed at first. */
const SHOWN = 200;
/** Maximum number of labels listed. */
const LABELS = 24;

export interface Acts {
  choose(one: Entry, candidate: Candidate): void;
  drop(one: Entry): void;
  dropUnsure(): void;
  /** Accepts the suggestions for all unknown names. */
  takeSuggested(): void;
  /** All objects with the name of an entry. */
  bearers(one: SureEntry): Promise<Candidate[]>;
  select(id: Id): void;
}

export interface QueryLists {
  readonly trouble: HTMLElement;
  readonly legend: HTMLElement;
  readonly chips: HTMLElement;
  /** Draws all lists, below the sentence of a refusal if there is one. */
  draw(refused: string | null): void;
}

export function queryLists(draft: Draft, acts: Acts): QueryLists {
  const trouble = el("div", { class: "trouble" });
  const legend = el("ul", { class: "legend", "aria-label": "Labels of the query" });
  const chips = el("ul", { class: "chips", "aria-label": "Objects of the query" });
  let all = false;
  let allUnsure = false;
  /** The entry whose alternatives are open, and these alternatives. */
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

  /** Draws the table of ambiguous and unknown names. */
  function drawTrouble(refused: string | null): void {
    const { unsure, suggested } = draft;
    const suggestions = new Set(suggested);
    const shown = allUnsure ? unsure : unsure.slice(0, SHOWN);
    const showAll = (): void => {
      allUnsure = true;
      drawTrouble(refused);
    };
    const left = unsure.length - suggested.length;
    fill(
      trouble,
      refused ? el("p", { class: "bad", role: "alert" }, refused) : null,
      unsure.length > 1
        ? el(
            "div",
            { class: "row wrap" },
            suggested.length > 0 ? el("button", { type: "button", class: "primary", "data-do": "take-suggested", onclick: () => acts.takeSuggested() }, left === 0 ? "Accept all suggestions" : `Accept ${counted(suggested.length, "suggestion")}`) : null,
            el("button", { type: "button", "data-do": "leave-out", onclick: () => acts.dropUnsure() }, `Remove all ${number(unsure.length)}`),
          )
        : null,
      unsure.length === 0
        ? null
        : el(
            "table",
            { class: "repair", role: "table" },
            el("caption", {}, `${counted(unsure.length, "name needs", "names need")} a choice`),
            el("thead", { class: "aside", role: "rowgroup" }, el("tr", { role: "row" }, ...["Given", "In the data", "Accept or remove"].map((title) => el("th", { scope: "col", role: "columnheader" }, title)))),
            el("tbody", { role: "rowgroup" }, ...shown.map((one) => unsureRow(one, suggestions.has(one), acts))),
          ),
      shown.length < unsure.length ? el("button", { type: "button", class: "bare", onclick: showAll }, `Show ${number(unsure.length - shown.length)} more`) : null,
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
      ? el("button", { type: "button", class: "bearers", "aria-expanded": String(isOpen), title: "Choose another of the same name", onclick: () => open(one) }, `1 of ${number(one.bearers)} with this name`)
      : null,
    el("button", { type: "button", class: "remove", "aria-label": `Remove ${one.name}`, onclick: () => acts.drop(one) }, "×"),
  );
}

/** A row of the repair table: a name with its candidates, the suggestion selected. */
function unsureRow(one: Entry, isSuggested: boolean, acts: Acts): HTMLElement {
  const many = one.state === "ambiguous";
  const suggestion = isSuggested ? clearlyMeant(one.given, one.candidates) : null;
  const option = (each: Candidate, place: number): HTMLElement => el("option", { value: place, selected: each === suggestion }, about(each) ? `${each.name} (${about(each)})` : each.name);
  const select = el(
    "select",
    { "aria-label": `Object for ${one.given}`, title: many ? "Several objects have this name" : null },
    suggestion === null ? el("option", { value: "", disabled: true, selected: true }, many ? `${number(one.bearers ?? one.candidates.length)} have this name` : "did you mean…") : null,
    ...one.candidates.map(option),
  );
  select.addEventListener("change", () => acts.choose(one, one.candidates[Number(select.value)]!));
  return el(
    "tr",
    { class: one.state, role: "row", "data-given": one.given },
    el("th", { scope: "row", role: "rowheader" }, el("bdi", {}, one.given), one.label === "" ? null : el("span", { class: "small quiet" }, one.label)),
    el("td", { role: "cell" }, one.candidates.length > 0 ? select : el("span", { class: "tag" }, "no similar name in the data")),
    el(
      "td",
      { role: "cell" },
      suggestion === null ? null : el("button", { type: "button", class: "bare", "aria-label": `Accept ${suggestion.name}`, title: `Accept ${suggestion.name}`, onclick: () => acts.choose(one, suggestion) }, "✓"),
      el("button", { type: "button", class: "bare", "aria-label": `Remove ${one.given}`, title: "Remove", onclick: () => acts.drop(one) }, "×"),
    ),
  );
}

/** The candidates of a name as buttons; the chosen one is pressed. */
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
