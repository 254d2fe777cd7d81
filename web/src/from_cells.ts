// Start from cells: choose cells by labels and add their objects to the query.
import { refusalOf } from "./client";
import { completing } from "./completion";
import { counted, el, fill, number } from "./dom";
import { named } from "./query_draft";
import { sentence } from "./words";
import { same, viewOf } from "./requests";
import { cellTitle } from "./nodes";
import type { Store } from "./state";
import type { NetworkRequest, DimensionSchema, LevelSchema, NameRow } from "./types";

const ALL = "∗";
/** Default number of objects taken from larger cells. */
const FEW = 200;
/** Maximum number of labels offered. */
const OFFERED = 60;

/** The levels of a dimension that can be chosen in a view: at or above the level it is rolled up to. */
export function levelsOf(dimension: DimensionSchema, rolled: string | undefined): LevelSchema[] {
  if (rolled === undefined) return dimension.levels;
  const at = dimension.levels.findIndex(({ name }) => name === rolled);
  return at < 0 ? [] : dimension.levels.slice(at);
}

/** Cells without repetitions and without the complete cube. */
export function cellsNamed(cells: readonly (readonly string[])[]): string[][] {
  const said = cells.filter((labels) => labels.some((label) => label !== ALL));
  return said.filter((labels, at) => said.findIndex((other) => same(other, labels)) === at).map((labels) => [...labels]);
}

export function mountFromCells(root: HTMLElement, store: Store, add: (rows: NameRow[]) => void, ended: AbortSignal): void {
  const { dimensions, limits, items } = store.cube;
  const nothing = (): string[] => dimensions.map(() => ALL);
  let view: Partial<NetworkRequest> = {};
  let asideCells: string[][] = [];
  let labels = nothing();
  let asked = 0;
  let objects = 0;
  let most = 0;

  const within = el("p", { class: "small quiet" }, "Only the part of the cube that is chosen under Settings.");
  const list = el("ul", { class: "chips", "aria-label": "Cells to start from" });
  const fields = el("div", { class: "fields" });
  const another = el("button", { type: "button", class: "bare", "data-do": "another-cell", onclick: () => setAside() }, "Add another cell");
  const told = el("p", { class: "small quiet", role: "status", "aria-live": "polite" });
  const many = el("input", { type: "number", min: 1, step: 1, "aria-label": "How many of their objects" });
  const all = el("button", { type: "button", class: "bare", onclick: () => wish(most) });
  const take = el("button", { type: "button", "data-do": "add-members", onclick: () => void bring() });
  const amount = el("div", { class: "row" }, many, all);
  root.append(within, list, fields, another, told, amount, take);

  const wanted = (): string[][] => cellsNamed([...asideCells, labels]);

  /** Shows how many objects the cells have, before the objects are requested. */
  async function look(said = ""): Promise<void> {
    const mine = (asked += 1);
    const cells = wanted();
    fill(list, ...asideCells.map((cell) => chip(cell)));
    another.disabled = cells.length === asideCells.length;
    objects = most = 0;
    told.textContent = said;
    drawAmount();
    if (cells.length === 0 || said !== "") return;
    try {
      const found = await store.client.ask("members", { cells, most: 1, ...viewOf(store.request) });
      if (mine !== asked) return;
      objects = found.objects;
      most = Math.min(objects, limits.members);
      const cut = objects > most ? `, of which at most ${number(most)} are taken at once` : "";
      told.textContent = `${counted(cells.length, "cell")} ${cells.length === 1 ? "holds" : "hold"} ${counted(objects, "object")}${cut}.`;
      many.max = String(most);
      wish(Math.min(most, FEW));
    } catch (error) {
      if (mine === asked) told.textContent = sentence(refusalOf(error).sentence);
    }
  }

  async function bring(): Promise<void> {
    if (!many.reportValidity()) return;
    const mine = (asked += 1);
    take.disabled = true;
    try {
      const { ids, names } = await store.client.ask("members", { cells: wanted(), most: many.valueAsNumber, ...viewOf(store.request) });
      if (mine !== asked) return;
      add(ids.map((id, at) => named(id, names[at] ?? String(id))));
      clear();
      void look(`${counted(ids.length, "object")} added.`);
    } catch (error) {
      if (mine !== asked) return;
      told.textContent = sentence(refusalOf(error).sentence);
      take.disabled = false;
    }
  }

  function wish(count: number): void {
    many.value = count === 0 ? "" : String(count);
    drawAmount();
  }

  function drawAmount(): void {
    const count = many.valueAsNumber;
    amount.hidden = most <= 1;
    all.hidden = count === most;
    all.textContent = objects === most ? `All ${number(most)}` : `The first ${number(most)}`;
    take.hidden = most === 0;
    take.disabled = !(count >= 1 && count <= most);
    take.textContent = take.disabled || count === objects ? `Add ${counted(most, "object")}` : items ? `Add the ${number(count)} with most items` : `Add the first ${number(count)}`;
  }

  function setAside(): void {
    asideCells = wanted();
    labels = nothing();
    drawFields();
    void look();
    fields.querySelector("input")?.focus();
  }

  function clear(): void {
    asideCells = [];
    labels = nothing();
    drawFields();
  }

  function chip(cell: string[]): HTMLElement {
    const title = cellTitle(cell);
    const drop = (): void => {
      asideCells = asideCells.filter((other) => other !== cell);
      void look();
    };
    return el("li", { class: "chip plain" }, el("span", { class: "name" }, title), el("button", { type: "button", class: "remove", "aria-label": `Remove ${title}`, onclick: drop }, "×"));
  }

  function drawFields(): void {
    const rolled = store.request.roll_up ?? {};
    fill(fields, ...dimensions.flatMap((dimension, place) => {
      const levels = levelsOf(dimension, rolled[dimension.name]);
      const set = (label: string): void => {
        if (labels[place] === (label || ALL)) return;
        labels[place] = label || ALL;
        void look();
      };
      return levels.length === 0 ? [] : [labelField(dimension.name, levels, set)];
    }));
  }

  /** Starts over if the view changes, because its cells have other labels or objects. */
  function follow(): void {
    const now = viewOf(store.request);
    within.hidden = Object.keys(now).length === 0;
    if (same(now, view)) return;
    if (!same(now.roll_up, view.roll_up)) clear();
    view = now;
    void look();
  }

  many.addEventListener("input", drawAmount);
  store.subscribe((changed) => changed.has("request") && follow(), ended);
  view = viewOf(store.request);
  drawFields();
  follow();
  void look();
}

/** A field for a label of a dimension, with the listed labels as suggestions; others can be typed. */
function labelField(name: string, levels: readonly LevelSchema[], set: (label: string) => void): HTMLElement {
  const field = el("input", { placeholder: "all", "aria-label": `Label of ${name}` });
  const offered = levels.flatMap((level) => level.first.map((label) => ({ label, level: level.name })));
  const box = completing(field, async (text) => {
    const begun = text.toLowerCase();
    const begins = ({ label }: { label: string }): number => Number(label.toLowerCase().startsWith(begun));
    return offered
      .filter(({ label }) => label.toLowerCase().includes(begun))
      .sort((a, b) => begins(b) - begins(a))
      .slice(0, OFFERED)
      .map(({ label, level }) => ({
        text: label,
        about: levels.length > 1 ? level : "",
        take: () => {
          field.value = label;
          set(label);
        },
      }));
  }, { eager: true });
  field.addEventListener("change", () => set(field.value.trim()));
  const cut = levels.find((level) => level.first.length < level.labels);
  return el(
    "div",
    { class: "field" },
    el("span", {}, name),
    el("div", { class: "stack" }, box, cut ? el("span", { class: "small quiet" }, `${number(cut.first.length)} of ${number(cut.labels)} labels are offered; any other can be typed.`) : null),
  );
}
