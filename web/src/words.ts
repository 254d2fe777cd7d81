// What the program's words mean, in plain ones: methods, objectives, forms, measures, files, and parameters in sentences.
import { cellTitle } from "./nodes";

/** Methods in the order offered; those of experts stand apart. */
export const USUAL_METHODS = ["greedy", "auto", "pagerank", "hops", "none"];

const METHODS: Record<string, string> = {
  greedy: "Cells, one after the other, always the best next one.",
  auto: "Tries several ways and keeps the one that serves best.",
  pagerank: "No cells: the objects nearest by links, by a random walk.",
  hops: "No cells: all that are linked with your objects.",
  "hops 2": "No cells: all within two links of your objects.",
  none: "Only your objects and the links among them.",
  random: "Cells by chance: to compare others with.",
  anneal: "Cells, exchanged again and again while that is better.",
  exact: "The best cells there are, with a proof; slow.",
  cube2net: "Cells that a learned agent chooses.",
  "cube2net paper": "Cells that a learned agent chooses, as in the paper.",
  steiner: "No cells: the fewest objects that join yours by links.",
  maxdisc: "No cells: objects that stand out around yours by links.",
};

const OBJECTIVES: Record<string, string> = {
  cover: "As many of yours as can be in cells, each up to a few times.",
  jaccard: "Cells that hold yours and few others.",
  fbeta: "A balance: many of yours, and few others.",
  precision: "Cells with the largest share of yours.",
  coverage: "As many of yours as can be, others at a price.",
  linked: "Cells that hold yours and others that are linked with them.",
};

const FORMS: Record<string, string> = {
  hybrid: "Your objects, those nearest by links, and the cells as nodes.",
  cells: "Your objects and the cells that hold them.",
  objects: "Your objects and all objects of the cells.",
  "cells+objects": "Your objects, the cells, and all objects of the cells.",
};

const LEVELS: Record<string, string> = {
  "": "A cell has a label of every dimension, or of one.",
  full: "A cell has a label of every dimension.",
  one: "A cell has a label of one dimension: larger and fewer cells.",
};

export const methodLine = (name: string): string => METHODS[name] ?? "";

/** A method as a list offers it: what it needs that is not here, or that it takes longer. */
export function methodTitle(name: string, long: boolean, missing: string | null): string {
  if (missing) return `${name} (${missing.replace(/^the method '[^']*' /, "")})`;
  return long ? `${name} (takes longer)` : name;
}

export const objectiveLine = (name: string): string => OBJECTIVES[name] ?? "";
export const formLine = (name: string): string => FORMS[name] ?? "";
export const levelsLine = (value: string): string => LEVELS[value] ?? (value === "" ? "" : "Cells by this dimension alone.");

/** What a value of an objective counts. */
export function valueLine(objective: string, r: number): string {
  if (objective === "cover") return `Cover counts how often your objects are held by cells, each up to ${r} times.`;
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

/** What a measure of a verdict tells; empty where it is not known. */
export function measureLine(name: string): string {
  const found = Object.keys(MEASURES).find((known) => name.toLowerCase().startsWith(known));
  return found === undefined ? "" : MEASURES[found]!;
}

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
  "recipe.json": "recipe (to make it again)",
  "query.csv": "query.csv (your names)",
};

/** A format, and what it is for. */
export const fileTitle = (format: string): string => FILES[format] ?? format.replace(/^\./, "");

const PARAMETERS: readonly [RegExp, string][] = [
  [/(?<![\w.])max_nodes(?![\w.])/g, "Nodes at most"],
  [/^n_neighbors is\b/, "Neighbours is"],
  [/(?<![\w.])n_neighbors=/g, "Neighbours = "],
  [/(?<![\w.])max_nodes=/g, "Nodes at most = "],
  [/, or None\b/g, ", or nothing"],
  [/use the method 'none', 'hops' or 'pagerank', a cube rolled up \(roll_up\), or one built with a smaller min_objects \(min_objects=2\)/g, "choose the method none, hops or pagerank under Steer, or make the cube again with a smaller “Smallest group”"],
  [/a smaller min_objects\b/g, "a smaller “Smallest group”"],
  [/ \(min_objects=([\d,]+)\)/g, " (set “Smallest group” to $1)"],
  [/ \((?:say which|each may be weight, kind or time): columns=\{[^{}]*\}\)/g, " (choose it in the list of columns)"],
  [/; name the column: columns=\{[^{}]*\}\)/g, "; choose it in the list of columns)"],
  [/ \(did you mean columns=\{[^{}]*\}\?\)/g, ""],
  [/ \((?:item|links)=…\)/g, ""],
  [/, or the columns? of (?:its|the) records [^:]*: /g, ": "],
];

/** A sentence of the program in the words of the page: parameters by the names of their fields, cells without fillers. */
export function plain(sentence: string): string {
  const said = PARAMETERS.reduce((text, [found, by]) => text.replace(found, by), sentence);
  return said.replace(/⟨([^⟨⟩]*)⟩/g, (whole, inner: string) => {
    const labels = inner.split(" · ");
    return labels.includes("∗") ? cellTitle(labels) : whole;
  });
}
