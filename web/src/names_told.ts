// The summary of the names of the query to be.
import { counted, number } from "./dom";
import type { Draft } from "./query_draft";

/** How many of the names were found, how many are to be repaired, and further notes on the latest ones. */
export function summarizeNames({ size, sure, unsure }: Pick<Draft, "size" | "sure" | "unsure">, notes: readonly string[]): string {
  const found = unsure.length === 0 ? `${counted(size, "name")} found` : `${number(sure.length)} of ${counted(size, "name")} found`;
  return [found, ...notes].join("; ");
}
