// What the head of the page says of a network, in plain words: what is in it, and who of the query is in no cell.
import { counted, number } from "./dom";
import type { NetworkAnswer } from "./types";

export interface Headline {
  /** What is in the network. */
  holds: string;
  /** How the cells hold the query; empty where there are no cells. */
  held: string;
  /** The positions of those of the query that no cell holds. */
  loose: number[];
}

export function headlineOf(network: NetworkAnswer): Headline {
  const { role, cells } = network.nodes;
  const count = (wanted: string): number => role.filter((one) => one === wanted).length;
  const mine = role.flatMap((one, at) => (one === "query" ? [at] : []));
  const loose = mine.filter((at) => cells[at]!.length === 0);
  const chosen = network.cells.length;
  const others: [number, string][] = [
    [count("neighbor"), "neighbour"],
    [count("brought"), "added object"],
    [count("pinned"), "pinned object"],
  ];
  const parts = [`your ${counted(mine.length, "object")}`, ...others.flatMap(([many, what]) => (many > 0 ? [counted(many, what)] : [])), ...(chosen > 0 ? [counted(chosen, "cell")] : [])];
  const last = parts.pop()!;
  const { source, target } = network.links;
  const lines = source.filter((one, at) => role[one] === "cell" || role[target[at]!] === "cell").length;
  const links = `${counted(source.length - lines, "link")}${lines > 0 ? ` and ${counted(lines, "link")} to ${chosen === 1 ? "the cell" : "cells"}` : ""}`;
  const holds = `${parts.length > 0 ? `${parts.join(", ")} and ${last}` : last}; ${links}.`;
  if (chosen === 0) return { holds: capital(holds), held: "", loose: [] };
  const inside = mine.length - loose.length;
  const where = chosen === 1 ? "the cell" : `the ${number(chosen)} cells`;
  const held = loose.length === 0 ? `All of your objects are in ${where}.` : `${number(inside)} of your ${counted(mine.length, "object")} ${inside === 1 ? "is" : "are"} in ${where}; ${number(loose.length)} ${loose.length === 1 ? "is" : "are"} ${chosen === 1 ? "not" : "in none of them"}: `;
  return { holds: capital(holds), held, loose };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
