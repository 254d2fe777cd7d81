// Whether a text is too long for one question: said before it is sent.
import { number } from "./dom";
import type { LimitsShape } from "./types";

/** One sentence where a text, or the file that it comes from, is longer than is taken; null where it is not. */
export function tooLong(what: string, text: string, { letters, bytes }: LimitsShape): string | null {
  const has = text.length > letters ? lettersOf(text) : text.length;
  if (has > letters) return `${what} has ${number(has)} letters; at most ${number(letters)} are taken at once`;
  const size = new Blob([JSON.stringify({ text })]).size;
  return size > bytes ? `${what} has ${number(size)} bytes as it is sent; at most ${number(bytes)} are taken at once` : null;
}

/** The same of a file that has not been read: a letter has at most four bytes. */
export function tooLarge(what: string, size: number, { letters }: LimitsShape): string | null {
  return size > 4 * letters ? `${what} has ${number(size)} bytes; a list has at most ${number(letters)} letters` : null;
}

/** How many letters a text has, as the library counts them: a sign of two halves is one. */
function lettersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
