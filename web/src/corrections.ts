// What was understood of a table, one row a column, with a choice to say otherwise.
import { DIMENSION, KEPT, PART, canLose, changesLayout, columnsFor, isPart, notTaken, nowOf, roleWords, withoutLinks, type Corrections, type Wish } from "./column_roles";
import { counted, el } from "./dom";
import type { ColumnUse, TablesAnswer } from "./types";

/** What is said where no column is left to group by. */
const NO_GROUP = "Choose at least one group: cells are made of these.";

export interface Correcting {
  /** Hears the corrections that result from a choice, and what was wished. */
  changed(now: Corrections, wish: Wish | null): void;
  /** Hears whether a group is missing. */
  missing(is: boolean): void;
}

/** The choice of what the columns are, and how small a cell may be; `wish` is what was chosen last. */
export function corrections(answer: TablesAnswer, said: Corrections, wish: Wish | null, { changed, missing }: Correcting): HTMLElement {
  const { read, choices, uses } = answer;
  const guessed = new Set(choices.filter((one) => one.chosen).map(({ column }) => column));
  const wanted = new Set(guessed);
  const links = read.links === null ? "linked where a row names both" : counted(read.links, "link");
  const lacking = el("p", { class: "bad", role: "alert", hidden: true, "data-lacking": "" }, NO_GROUP);

  function pick(use: ColumnUse, what: string): void {
    const { column } = use;
    const columns = columnsFor(uses, said, use, what);
    const least = said.min_objects === undefined ? {} : { min_objects: said.min_objects };
    if (changesLayout(uses, what)) return changed({ columns, ...least }, { column, what });
    if (what === DIMENSION) wanted.add(column);
    else wanted.delete(column);
    const dimensions = choices.filter((one) => wanted.has(one.column) && one.dimension !== "").map(({ dimension }) => dimension);
    // Without a group the choice stays as it is, and nothing is asked: what would come back is another guess.
    const none = dimensions.length === 0 && use.role === "" && (what === KEPT || !lacking.hidden);
    lacking.hidden = !none;
    missing(none);
    if (none) return;
    const same = wanted.size === guessed.size && [...wanted].every((name) => guessed.has(name));
    const groups = same || use.role !== "" ? (said.dimensions ? { dimensions: said.dimensions } : {}) : dimensions.length > 0 ? { dimensions } : {};
    changed({ columns, ...least, ...groups }, { column, what });
  }

  function row(use: ColumnUse): HTMLElement {
    const { column, table } = use;
    const now = nowOf(use, answer, said);
    const choice = choices.find((one) => one.column === column);
    const ofLinks = table === "links" && uses.some(({ role }) => role === "links.source");
    const option = (value: string, text: string, disabled = false): HTMLElement => el("option", { value, selected: value === now, disabled: disabled && value !== now }, text);
    const fixed = use.role !== "" && !canLose(use, uses);
    const select = el(
      "select",
      { "aria-label": `What ${column} is`, "data-column": column },
      isPart(use) ? option(PART, "part of the name") : null,
      ofLinks || isPart(use) ? null : option(DIMENSION, choice?.dimension === "" ? "a group for cells (too varied)" : "a group for cells", fixed || choice?.dimension === ""),
      isPart(use) ? null : option(KEPT, ofLinks ? "not used" : "kept as information", fixed),
      ...use.may.map((role) => option(role, isPart(use) ? "the name alone" : roleWords(role, uses))),
    );
    select.addEventListener("change", () => pick(use, select.value));
    return el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, column), ofLinks ? el("span", { class: "quiet small" }, " of the links") : ""), el("td", {}, select));
  }

  const least = el("input", { type: "number", min: 1, step: 1, value: read.min_objects, "aria-label": "Smallest group", "data-do": "smallest" });
  least.addEventListener("change", () => {
    const size = Math.floor(Number(least.value));
    if (size >= 1) changed({ ...said, min_objects: size }, null);
    else least.value = String(read.min_objects);
  });
  const refused = wish === null ? null : notTaken(answer, wish);
  const none = withoutLinks(answer);
  const back = el("button", { type: "button", class: "bare", "data-do": "as-guessed", onclick: () => changed({}, null) }, "As it was guessed");
  return el(
    "div",
    { class: "understood" },
    el("p", {}, el("strong", {}, counted(read.objects, "row")), ` with a name, ${links}. Cells by `, el("strong", { "data-dimensions": "" }, read.dimensions.join(" × ")), "."),
    refused === null ? null : el("p", { class: "bad", role: "alert", "data-not-taken": "" }, refused),
    none === null || refused !== null ? null : el("p", { class: "bad", role: "alert", "data-no-links": "" }, none),
    el("table", {}, el("tbody", {}, ...uses.map(row))),
    lacking,
    el("label", { class: "row small smallest" }, el("span", {}, "Smallest group"), least, el("span", { class: "quiet" }, "rows; cells with fewer are left out")),
    said.columns || said.dimensions || said.min_objects ? back : "",
  );
}
