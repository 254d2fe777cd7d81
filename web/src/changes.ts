// What one request says otherwise than another.
import { same } from "./requests";
import type { NetworkRequest } from "./types";

const NAMES: Partial<Record<keyof NetworkRequest, string>> = { max_nodes: "maximum number of nodes", n_neighbors: "neighbours", n_cells: "cells", r: "cells per object", levels: "labels of a cell", roll_up: "levels rolled up", between: "time", where: "only" };

/** What one request says otherwise than another, word by word. */
export function changes(before: NetworkRequest, after: NetworkRequest): string[] {
  const words = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((word) => word !== "cube") as (keyof NetworkRequest)[];
  return words
    .filter((word) => !same(before[word] ?? null, after[word] ?? null))
    .map((word) => `${NAMES[word] ?? word} ${brief(after[word])}`);
}

function brief(value: unknown): string {
  if (value === undefined || value === null) return "automatic";
  if (Array.isArray(value)) return value.length > 3 || value.some((one) => typeof one === "object") ? `of ${value.length}` : value.join(", ");
  if (typeof value === "object") return Object.entries(value).map(([word, one]) => `${word} ${brief(one)}`).join(", ");
  return String(value);
}
