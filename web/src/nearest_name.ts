// Which of several suggestions is the one that was meant, where one is nearer than all others.
import type { Candidate } from "./types";

const plainly = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const words = (text: string): string[] => plainly(text).match(/[\p{L}\p{N}]+/gu) ?? [];

/** The suggestion for a name that stands out: the only one, or one nearer than all others; null where somebody has to choose. */
export function clearlyMeant(given: string, candidates: readonly Candidate[]): Candidate | null {
  const own = words(given);
  const whole = candidates.filter(({ name }) => own.every((word) => words(name).includes(word)));
  if (whole.length > 1) return null;
  const ranked = candidates.map((one) => ({ one, slips: slips(own.join(" "), words(one.name).join(" ")) })).sort((a, b) => a.slips - b.slips);
  const [first, second] = ranked;
  if (first === undefined) return null;
  return second === undefined || first.slips < second.slips ? first.one : null;
}

/** The fewest letters to add, leave out or change that turn one text into another. */
function slips(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at += 1) {
    const row = [at + 1];
    for (let to = 0; to < other.length; to += 1) row.push(Math.min(before[to + 1]! + 1, row[to]! + 1, before[to]! + (one[at] === other[to] ? 0 : 1)));
    before = row;
  }
  return before[other.length]!;
}
