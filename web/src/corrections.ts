// What was understood of a table, one row a column, with a choice to say otherwise.
import { counted, el } from "./dom";
import type { TablesAnswer, TablesQuestion } from "./types";

/** What a person said of columns instead of what was guessed. */
export type Corrections = Pick<TablesQuestion, "columns" | "dimensions">;

const DIMENSION = "dimension";
const KEPT = "kept";
/** What a column of a table of people or things may be, besides a dimension. */
const ROLES: Record<string, string> = { "nodes.id": "tells rows apart", "nodes.name": "name", "nodes.text": "text, for topics" };

/** What is said where no column is left to group by. */
const NO_GROUP = "Choose at least one group: cells are made of these.";

/** The choice of what the columns are; `changed` hears the corrections that result, `missing` whether a group is. */
export function corrections({ read, choices }: TablesAnswer, said: Corrections, changed: (now: Corrections) => void, missing: (is: boolean) => void = () => undefined): HTMLElement {
  const guessed = new Set(choices.filter((one) => one.chosen).map(({ column }) => column));
  const wanted = new Set(guessed);
  const links = read.links === null ? "linked where a row names both" : counted(read.links, "link");
  const roles = read.columns.filter(({ table }) => table !== "");
  const lacking = el("p", { class: "bad", role: "alert", hidden: true, "data-lacking": "" }, NO_GROUP);

  function pick(column: string, what: string): void {
    const columns = Object.fromEntries(Object.entries(said.columns ?? {}).filter(([, name]) => name !== column));
    if (what in ROLES) columns[what] = column;
    if (what === DIMENSION) wanted.add(column);
    else wanted.delete(column);
    const dimensions = choices.filter((one) => wanted.has(one.column) && one.dimension !== "").map(({ dimension }) => dimension);
    // Without a group the choice stays as it is, and nothing is asked: what would come back is another guess.
    const none = dimensions.length === 0 && (what === KEPT || !lacking.hidden);
    lacking.hidden = !none;
    missing(none);
    if (none) return;
    const same = wanted.size === guessed.size && [...wanted].every((name) => guessed.has(name));
    changed({ columns, ...(same ? (said.dimensions ? { dimensions: said.dimensions } : {}) : dimensions.length > 0 ? { dimensions } : {}) });
  }

  const option = (value: string, text: string, now: string, disabled = false): HTMLElement => el("option", { value, selected: value === now, disabled }, text);
  const rows = choices.map(({ column, dimension, chosen: is }) => {
    const now = is ? DIMENSION : KEPT;
    const select = el(
      "select",
      { "aria-label": `What ${column} is`, "data-column": column },
      option(DIMENSION, dimension === "" ? "a group for cells (too varied)" : "a group for cells", now, dimension === ""),
      option(KEPT, "kept as information", now),
      ...Object.entries(ROLES).map(([role, text]) => option(role, text, now)),
    );
    select.addEventListener("change", () => pick(column, select.value));
    return el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, column)), el("td", {}, select));
  });
  const back = el("button", { type: "button", class: "bare", "data-do": "as-guessed", onclick: () => changed({}) }, "As it was guessed");
  return el(
    "div",
    { class: "understood" },
    el("p", {}, el("strong", {}, counted(read.objects, "row")), ` with a name, ${links}. Cells by `, el("strong", { "data-dimensions": "" }, read.dimensions.join(" × ")), "."),
    el(
      "table",
      {},
      el("tbody", {}, ...roles.map(({ table, column, what }) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, column)), el("td", {}, `${what}${table === "nodes" || table === "links" ? "" : ` (${table})`}`))), ...rows),
    ),
    lacking,
    said.columns || said.dimensions ? back : "",
  );
}
