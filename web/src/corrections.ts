// The data step: problems first, then a row for each column with sample values, role, separator and outcome.
import { canLose, changesLayout, columnsFor, type Corrections, describeSeparators, DIMENSION, findLinkProblem, isPart, KEPT, notTaken, nowOf, outcome, PART, roleWords, SEPARATORS, sizeOf, type Wish } from "./column_roles";
import { counted, el, number } from "./dom";
import type { ColumnUse, SheetSchema, TablesAnswer } from "./types";
import { describeDimensions, plain, sentence } from "./words";

const NO_GROUP = "Choose at least one column as a group.";

export interface Correcting {
  /** Receives the corrections that result from a choice, and the choice. */
  changed(now: Corrections, wish: Wish | null): void;
  /** Receives whether a cube can be built. */
  ready(is: boolean): void;
}

/** The controls of the data step; `wish` is the latest choice, and `sheets` are those of a workbook with several. */
export function corrections(answer: TablesAnswer, sheets: readonly SheetSchema[], said: Corrections, wish: Wish | null, { changed, ready }: Correcting): HTMLElement {
  const { read, choices, uses } = answer;
  const guessed = new Set(choices.filter((one) => one.chosen).map(({ column }) => column));
  const wanted = new Set(guessed);
  const lacking = el("p", { class: "bad", role: "alert", hidden: true, "data-lacking": "" }, NO_GROUP);
  const common: Corrections = {
    ...(said.min_objects === undefined ? {} : { min_objects: said.min_objects }),
    ...(said.separators === undefined ? {} : { separators: said.separators }),
    ...(said.sheet === undefined ? {} : { sheet: said.sheet }),
  };

  function pick(use: ColumnUse, what: string): void {
    const { column } = use;
    const columns = columnsFor(uses, said, use, what);
    if (changesLayout(uses, what)) return changed({ ...common, columns }, { column, what });
    if (what === DIMENSION) wanted.add(column);
    else wanted.delete(column);
    const dimensions = choices.filter((one) => wanted.has(one.column) && one.dimension !== "").map(({ dimension }) => dimension);
    // Without a group no request is sent, because the answer would be a guess again.
    const none = dimensions.length === 0 && use.role === "" && answer.problem === null && (what === KEPT || !lacking.hidden);
    lacking.hidden = !none;
    ready(!none && answer.problem === null);
    if (none) return;
    const same = wanted.size === guessed.size && [...wanted].every((name) => guessed.has(name));
    const groups = same || use.role !== "" ? (said.dimensions ? { dimensions: said.dimensions } : {}) : dimensions.length > 0 ? { dimensions } : {};
    changed({ ...common, columns, ...groups }, { column, what });
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
      ofLinks || isPart(use) ? null : option(DIMENSION, choice?.dimension === "" ? "group (too many values)" : "group", fixed || choice?.dimension === ""),
      isPart(use) ? null : option(KEPT, ofLinks ? "not used" : "information only", fixed),
      ...use.may.map((role) => option(role, isPart(use) ? "the name alone" : roleWords(role, uses))),
    );
    select.addEventListener("change", () => pick(use, select.value));
    return el(
      "tr",
      { "data-row": column },
      el("th", { scope: "row" }, el("bdi", {}, column), ofLinks ? el("span", { class: "quiet small" }, " of the links") : ""),
      el("td", { class: "samples small quiet" }, ...use.samples.map((text) => el("span", {}, el("bdi", {}, text)))),
      el("td", {}, select),
      el("td", {}, use.can_split ? separatorOf(use) : null),
      el("td", { class: "small", "data-outcome": "" }, outcome(use, now, answer)),
    );
  }

  function separatorOf({ column, separators }: ColumnUse): HTMLElement {
    const now = JSON.stringify(separators);
    const others = SEPARATORS.map((mark) => [mark]).filter((marks) => JSON.stringify(marks) !== now);
    const option = (marks: readonly string[]): HTMLElement => el("option", { value: JSON.stringify(marks), selected: JSON.stringify(marks) === now }, describeSeparators(marks));
    const select = el("select", { "aria-label": `Separator of ${column}`, "data-separator": column }, option(separators), ...others.map(option));
    select.addEventListener("change", () => changed({ ...said, separators: { ...said.separators, [column]: JSON.parse(select.value) as string[] } }, null));
    return select;
  }

  const least = el("input", { type: "number", min: 1, step: 1, value: read.min_objects, "aria-label": "Smallest group", "data-do": "smallest" });
  least.addEventListener("change", () => {
    const size = Math.floor(Number(least.value));
    if (size >= 1) changed({ ...said, min_objects: size }, null);
    else least.value = String(read.min_objects);
  });
  const problems: [name: string, text: string | null][] = [
    ["not-taken", wish === null ? null : notTaken(answer, wish)],
    ["problem", answer.problem === null ? null : sentence(plain(answer.problem))],
    ["no-links", findLinkProblem(answer)],
  ];
  ready(answer.problem === null);
  const back = el("button", { type: "button", class: "bare", "data-do": "as-guessed", onclick: () => changed(said.sheet === undefined ? {} : { sheet: said.sheet }, null) }, "Reset to the guess");
  const isChanged = said.columns || said.dimensions || said.min_objects || said.separators;
  return el(
    "div",
    { class: "understood" },
    ...problems.map(([name, text]) => (text === null ? null : el("p", { class: "bad", role: "alert", [`data-${name}`]: "" }, text))),
    sheets.length > 1 ? sheetChooser(sheets, said, changed) : null,
    el("p", { "data-size": "" }, el("strong", {}, sizeOf(answer)), read.dimensions.length > 0 ? ", grouped by " : "", el("strong", { "data-dimensions": "" }, describeDimensions(read.dimensions)), "."),
    read.left_out.length > 0 ? el("p", { class: "small quiet", "data-left-out": "" }, `Left out: ${read.left_out.map(({ reason, count }) => `${number(count)} ${reason}`).join("; ")}.`) : null,
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...["Column", "First values", "Meaning", "Separator", "Becomes"].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, ...uses.map(row)),
    ),
    lacking,
    el("label", { class: "row small smallest" }, el("span", {}, "Smallest group"), least, el("span", { class: "quiet" }, "objects; smaller groups are left out")),
    isChanged ? back : "",
  );
}

/** The choice of the sheet to read; a new sheet has other columns, so all corrections are dropped. */
function sheetChooser(sheets: readonly SheetSchema[], said: Corrections, changed: Correcting["changed"]): HTMLElement {
  const isUsed = ({ name, is_used }: SheetSchema): boolean => (said.sheet === undefined ? is_used : name === said.sheet);
  const describe = ({ name, rows, first }: SheetSchema): string => (rows === null ? `${name} (no table)` : `${name} (${counted(rows, "row")}: ${first.join(", ")}, …)`);
  const used = sheets.filter(isUsed);
  const select = el(
    "select",
    { "aria-label": "Sheet", "data-do": "sheet" },
    used.length > 1 ? el("option", { value: "", selected: true, disabled: true }, used.map(({ name }) => name).join(" and ")) : null,
    ...sheets.map((sheet) => el("option", { value: sheet.name, selected: used.length === 1 && isUsed(sheet), disabled: sheet.rows === null && !isUsed(sheet) }, describe(sheet))),
  );
  select.addEventListener("change", () => changed({ sheet: select.value }, null));
  return el("label", { class: "row sheet" }, el("span", {}, "Sheet"), select);
}
