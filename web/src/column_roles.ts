// The roles of columns, and the corrections that result when a user changes one.
import { counted } from "./dom";
import type { ColumnUse, TablesAnswer, TablesRequest } from "./types";
import { describeDimension } from "./words";

/** Corrections of the guess by the user. */
export type Corrections = Pick<TablesRequest, "columns" | "dimensions" | "min_objects" | "separators" | "sheet">;

export const DIMENSION = "dimension";
export const KEPT = "kept";
/** The role of columns that are joined to one name. */
export const PART = "part";

/** A choice of the user for a column: a role, a group, or information only. */
export interface Wish {
  column: string;
  what: string;
}

const WORDS: Record<string, string> = {
  id: "identifier of each row",
  name: "name",
  kind: "kind, such as person or firm",
  "links.kind": "kind of a link",
  text: "text, for topics",
  source: "one end of a link",
  target: "the other end of a link",
  weight: "weight of a link",
  time: "time of a link",
  item: "record",
  object: "objects (people, things)",
};
/** Roles that a table must have. */
const NEEDED = ["id", "item", "source", "object"];

const last = (role: string): string => role.slice(role.lastIndexOf(".") + 1);
const isAlone = (uses: readonly ColumnUse[]): boolean => !uses.some(({ role }) => role === "links.source");
const isOfNodes = (uses: readonly ColumnUse[]): boolean => uses.some(({ table }) => table === "nodes");

/** The name of a role on the page; a column that names other rows is both ends of a link. */
export function roleWords(role: string, uses: readonly ColumnUse[]): string {
  return role === "links.target" && isAlone(uses) && isOfNodes(uses) ? "links to other rows" : (WORDS[role] ?? WORDS[last(role)] ?? role);
}

/** Whether the role of a column can be removed. */
export const canLose = (use: ColumnUse, uses: readonly ColumnUse[]): boolean =>
  !NEEDED.includes(last(use.role)) && (use.role !== "links.target" || isAlone(uses)) && !isPart(use);

/** Whether a column is joined with others to a name. */
export const isPart = ({ role, may }: ColumnUse): boolean => role !== "" && may.length === 1;

/** The selected role of a column. */
export function nowOf(use: ColumnUse, { choices, uses }: Pick<TablesAnswer, "choices" | "uses">, said: Corrections): string {
  if (isPart(use)) return PART;
  if (use.role === "nodes.id" && said.columns?.["nodes.name"] === use.column && !uses.some(({ role }) => role === "nodes.name")) return "nodes.name";
  if (use.role !== "") return use.role;
  return choices.some(({ column, chosen }) => chosen && column === use.column) ? DIMENSION : KEPT;
}

/** The roles by column after a choice of the user. */
export function columnsFor(uses: readonly ColumnUse[], said: Corrections, use: ColumnUse, what: string): Record<string, string> {
  const own = uses.find(({ role }) => role === "nodes.id")?.column;
  let columns = Object.fromEntries(Object.entries(said.columns ?? {}).filter(([role, name]) => name !== use.column || !use.may.includes(role)));
  const isRole = use.may.includes(what);
  if (changesLayout(uses, what)) {
    columns = own !== undefined && own !== use.column ? { "items.item": own } : {};
  } else if (use.role !== "" && use.role !== what && !(use.role in columns) && canLose(use, uses)) {
    columns[use.role] = "";
    if (use.role === "nodes.name" && own !== undefined && what !== "nodes.id") columns["nodes.id"] ??= own;
  }
  if (isRole) columns[what] = use.column;
  return columns;
}

/** Whether a choice turns rows into records, so that all other roles are guessed again. */
export const changesLayout = (uses: readonly ColumnUse[], what: string): boolean => what === "mentions.object" && isOfNodes(uses);

/** Why a choice had no effect, and what helps; null if it had. */
export function notTaken({ choices, uses }: Pick<TablesAnswer, "choices" | "uses">, { column, what }: Wish): string | null {
  const own = uses.filter((use) => use.column === column);
  const known = uses.filter(({ role }) => role === "nodes.id" || role === "nodes.name");
  if (what === KEPT) return own.some(({ role }) => role === "") || own.length === 0 ? null : `${column} still has this role: give the role to another column first.`;
  if (what === DIMENSION) return choices.some((one) => one.column === column && one.chosen) ? null : `${column} makes no groups: nearly every row has a different value.`;
  if (own.some(({ role }) => role === what)) return null;
  if (what === "nodes.name" && own.some(({ role }) => role === "nodes.id") && known.length === 1) return null;
  if (what !== "links.target") return `${column} cannot have this role.`;
  return `${column} makes no links: too few of its values name other rows. Rows are known by ${known.map((use) => use.column).join(" and ")}; choose “name” for the column that has the names.`;
}

/** Why there are no links, and what helps; null if there are. */
export function findLinkProblem({ read, uses, is_linked }: Pick<TablesAnswer, "read" | "uses" | "is_linked">): string | null {
  const objects = uses.find(({ role }) => role === "mentions.object");
  if (read.links === null) {
    if (is_linked || objects === undefined) return null;
    return `No links were found: every record has a single value in ${objects.column}. If it holds several, choose their separator.`;
  }
  if (read.links !== 0) return null;
  if (!uses.some(({ may }) => may.includes("links.target"))) return "No links were found.";
  if (!isAlone(uses)) return "No links were found: choose the two columns that name the ends of a link, and as identifier of the rows the column with the same values.";
  return "No links were found. Choose “links to other rows” for a column such as a manager, and “name” for the column with these names; or “objects” for a column with several people.";
}

/** Kinds that are not worth showing. */
const GENERAL_KINDS = ["node", "object"];

/** The amount that was read, such as "612 objects (Authors) in 141 records". */
export function sizeOf({ read, uses, items, kinds }: Pick<TablesAnswer, "read" | "uses" | "items" | "kinds">): string {
  const named = kinds.filter((kind) => !GENERAL_KINDS.includes(kind));
  const objects = isOfNodes(uses) ? counted(read.objects, "row") : `${counted(read.objects, "object")}${named.length > 0 ? ` (${named.join(", ")})` : ""}`;
  if (read.links !== null) return `${objects} and ${counted(read.links, "link")}`;
  return isOfNodes(uses) ? objects : `${objects} in ${counted(items, "record")}`;
}

/** The outcome of a column, with numbers. */
export function outcome(use: ColumnUse, now: string, { read, uses, items, choices }: Pick<TablesAnswer, "read" | "uses" | "items" | "choices">): string {
  const ends = uses.some(({ role }) => role === "links.source");
  switch (last(now)) {
    case DIMENSION: {
      const spec = choices.find(({ column, chosen }) => chosen && column === use.column)?.dimension ?? "";
      if (spec.includes("@")) return `groups: ${describeDimension(spec).levels.join(", ")}`;
      return use.distinct === null ? "groups" : counted(use.distinct, "group");
    }
    case KEPT:
      return "information";
    case "object":
      return `${counted(read.objects, "object")} in ${counted(items, "record")}`;
    case "item":
      return counted(items, "record");
    case "id":
      return counted(read.objects, "object");
    case "name":
    case PART:
      return "names";
    case "text":
      return "topics";
    case "source":
      return "ends of links";
    case "target":
      return ends ? "ends of links" : counted(read.links ?? 0, "link");
    case "weight":
      return "weights of links";
    case "time":
      return "times of links";
    default:
      return now.startsWith("links.") ? "links" : "";
  }
}

/** Separators to choose from; two commas mean every second comma, as in "Last, F., Last, F.". */
export const SEPARATORS = [";", ",", "|", "/", " and ", " & ", ",,", "\n", "\t"] as const;

const NAMES: Record<string, string> = { ";": "; semicolon", ",": ", comma", "|": "| bar", "/": "/ slash", ",,": "every second comma", "\n": "line break", "\t": "tab" };

/** Separators in words; without any, a field has one value. */
export function describeSeparators(marks: readonly string[]): string {
  if (marks.length === 0) return "one value";
  return marks.map((mark) => NAMES[mark] ?? `“${mark.trim() === "" ? mark : mark.trim()}”`).join(" or ");
}
