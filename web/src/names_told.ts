// What is said of names that were looked up, where others were there before.
import { counted, number } from "./dom";
import type { Draft } from "./query_draft";

const FOUND = /^[\d,]+ of [\d,]+ names? (?:is|are) found/;
const are = (count: number): string => `${number(count)} ${count === 1 ? "is" : "are"}`;

/** The sentence of the names that came last, with the counts of all that are there. */
export function toldOfAll(draft: Pick<Draft, "size" | "sure" | "unsure">, said: string): string {
  if (!FOUND.test(said)) return said;
  const [found, ...others] = said.split("; ");
  const several = draft.unsure.filter(({ state }) => state === "ambiguous").length;
  const missing = draft.unsure.length - several;
  return [
    found!.replace(FOUND, `${number(draft.sure.length)} of ${counted(draft.size, "name is", "names are")} found`),
    ...(several > 0 ? [`${are(several)} borne by several objects: choose`] : []),
    ...(missing > 0 ? [`${are(missing)} not in the cube`] : []),
    ...others.filter((part) => !/borne by several objects|not in the cube/.test(part)),
  ].join("; ");
}
