// Plain descriptions of methods, objectives, forms, measures and files, and the library's sentences in the words of the page.
import { cellTitle } from "./nodes";

/** The usual methods, in order. */
export const USUAL_METHODS = ["greedy", "auto", "pagerank", "hops", "none"];

const METHODS: Record<string, string> = {
  greedy: "Adds cells one by one, each time the one that helps most.",
  auto: "Tries several methods and keeps the one that works best.",
  pagerank: "Ignores cells: takes the objects closest by links (random walk).",
  hops: "Ignores cells: takes all objects linked with yours.",
  "hops 2": "Ignores cells: takes all objects within two links of yours.",
  none: "Takes only your objects and the links between them.",
  random: "Picks cells at random, as a baseline.",
  anneal: "Swaps cells as long as that improves the choice.",
  exact: "Finds the best cells and proves it; slow.",
  cube2net: "A trained agent chooses the cells.",
  "cube2net paper": "A trained agent chooses the cells, with the settings of the paper.",
  steiner: "Ignores cells: takes the fewest objects that connect yours by links.",
  maxdisc: "Ignores cells: takes objects that stand out around yours by links.",
};

const OBJECTIVES: Record<string, string> = {
  cover: "Puts as many of your objects as possible into cells, each up to a few times.",
  jaccard: "Prefers cells with many of your objects and few others.",
  fbeta: "Balances many of your objects against few others.",
  precision: "Prefers cells with the largest share of your objects.",
  coverage: "Reaches as many of your objects as possible, at a price for others.",
  linked: "Prefers cells with your objects and others linked to them.",
};

const FORMS: Record<string, string> = {
  hybrid: "Your objects, their closest neighbours by links, and the cells as extra nodes.",
  cells: "Your objects, and the cells that contain them as extra nodes.",
  objects: "Your objects and all other objects of the chosen cells.",
  "cells+objects": "Your objects, all other objects of the chosen cells, and the cells as extra nodes.",
};

const LEVELS: Record<string, string> = {
  "": "A cell is a group of objects with one label of every dimension (one venue and one year), or with a single label.",
  full: "A cell is a group of objects with one label of every dimension.",
  one: "A cell is a group of objects with a single label: fewer and larger cells.",
};

export const methodLine = (name: string): string => METHODS[name] ?? "";

/** A method in a list, with what is missing or that it takes longer. */
export function methodTitle(name: string, long: boolean, missing: string | null): string {
  if (missing) return `${name} (${missing.replace(/^the method '[^']*' /, "")})`;
  return long ? `${name} (takes longer)` : name;
}

export const objectiveLine = (name: string): string => OBJECTIVES[name] ?? "";
export const formLine = (name: string): string => FORMS[name] ?? "";
export const levelsLine = (value: string): string => LEVELS[value] ?? (value === "" ? "" : "A cell is a group of objects with one label of this dimension.");

/** What the value of an objective counts. */
export function valueLine(objective: string, r: number): string {
  if (objective === "cover") return `Cover counts in how many cells your objects are, each object up to ${r} times.`;
  const said = OBJECTIVES[objective];
  return said === undefined ? "" : `${objective}: ${said.charAt(0).toLowerCase()}${said.slice(1)}`;
}

const MEASURES: Record<string, string> = {
  f1: "how well groups found in the network agree with the labels, pair by pair; 1 is perfect",
  jc: "which share of the pairs that are together are so in both, labels and groups; 1 is perfect",
  nmi: "how much the groups found tell about the labels; 1 is all, 0 nothing",
  auc: "how often a hidden link is ranked above a wrong one; 0.5 is chance, 1 is perfect",
  "p@": "which share of the first guesses are hidden links",
  "r@": "which share of the hidden links is among the first guesses",
};

/** What a measure means; empty if unknown. */
export function measureLine(name: string): string {
  const found = Object.keys(MEASURES).find((known) => name.toLowerCase().startsWith(known));
  return found === undefined ? "" : MEASURES[found]!;
}

const BINS: readonly [RegExp, string][] = [
  [/^width:(.+)$/, "steps of $1"],
  [/^quantiles:(.+)$/, "$1 parts of equal size"],
  [/^edges:(.+)$/, "limits $1"],
];

const binsLine = (bins: string): string => BINS.reduce((text, [found, by]) => text.replace(found, by), bins);

/** Parse a dimension such as `decade=year@decades`: its name, and its bins and levels above in words. */
export function describeDimension(spec: string): { name: string; levels: string[] } {
  const [own = "", ...above] = spec.split(/[/|]/).map((level) => {
    const [, name = level, attribute, bins] = /^([^=@]*)(=[^@]*)?(?:@(.*))?$/.exec(level) ?? [];
    return { name: name.replace(/^"(.*)"$/, "$1"), bins: attribute === undefined && bins !== undefined ? binsLine(bins) : null };
  });
  if (typeof own === "string") return { name: spec, levels: [] };
  return { name: own.name, levels: [...(own.bins === null ? [] : [own.bins]), ...above.map(({ name }) => name)] };
}

/** Dimensions in words, such as "venue × year (years, decades)". */
export const describeDimensions = (specs: readonly string[]): string =>
  specs.map(describeDimension).map(({ name, levels }) => (levels.length > 0 ? `${name} (${levels.join(", ")})` : name)).join(" × ");

const FILES: Record<string, string> = {
  ".xlsx": "xlsx (Excel, LibreOffice)",
  ".csv": "csv (two tables)",
  ".graphml": "graphml (Gephi, yEd)",
  ".gexf": "gexf (Gephi)",
  ".cyjs": "cyjs (Cytoscape)",
  ".parquet": "parquet (data frames)",
  ".npz": "npz (NumPy, SciPy)",
  ".json": "json (programs)",
  ".vosviewer.json": "VOSviewer",
  ".neo4j.csv": "Neo4j",
  ".png": "png (slides)",
  ".svg": "svg (to edit)",
  ".pdf": "pdf (to print)",
  ".html": "html (to share)",
  "recipe.json": "recipe (to repeat it)",
  "query.csv": "query.csv (your names)",
};

/** A file format with its purpose. */
export const fileTitle = (format: string): string => FILES[format] ?? format.replace(/^\./, "");

const PARAMETERS: readonly [RegExp, string][] = [
  [/(?<![\w.])max_nodes(?![\w.])/g, "Maximum number of nodes"],
  [/^n_neighbors is\b/, "Neighbours is"],
  [/(?<![\w.])n_neighbors=/g, "Neighbours = "],
  [/(?<![\w.])max_nodes=/g, "Maximum number of nodes = "],
  [/, or None\b/g, ", or nothing"],
  [/use the method 'none', 'hops' or 'pagerank', a cube rolled up \(roll_up\), or one built with a smaller min_objects \(min_objects=2\)/g, "choose the method none, hops or pagerank under Settings, or build the cube again with a smaller “Smallest group”"],
  [/a smaller min_objects\b/g, "a smaller “Smallest group”"],
  [/ \(min_objects=([\d,]+)\)/g, " (set “Smallest group” to $1)"],
  [/ \((?:say which|each may be weight, kind or time): columns=\{[^{}]*\}\)/g, " (choose it in the list of columns)"],
  [/; name the column: columns=\{[^{}]*\}\)/g, "; choose it in the list of columns)"],
  [/ \(did you mean columns=\{[^{}]*\}\?\)/g, ""],
  [/ \((?:item|links)=…\)/g, ""],
  [/, or the columns? of (?:its|the) records [^:]*: /g, ": "],
];

/** A sentence of the library in the words of the page: fields instead of parameters, cells without ∗. */
export function plain(sentence: string): string {
  const said = PARAMETERS.reduce((text, [found, by]) => text.replace(found, by), sentence);
  return said.replace(/⟨([^⟨⟩]*)⟩/g, (whole, inner: string) => {
    const labels = inner.split(" · ");
    return labels.includes("∗") ? cellTitle(labels) : whole;
  });
}

const FILE = /^\S+\.(csv|tsv|tab|txt|jsonl|ndjson|parquet|xlsx|xlsm|xls|ods|graphml|gexf|gml|net|gz)(?![\w.])/i;

/** A lower-case sentence of the library with a capital letter and a full stop; the name of a file stays as it is. */
export function sentence(text: string, files: readonly string[] = []): string {
  const named = FILE.test(text) || files.some((name) => text.startsWith(name));
  const begun = named ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return text === "" || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
