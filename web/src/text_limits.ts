// Whether a text is too long for one request: said before it is sent.
import { number } from "./dom";
import type { LimitsSchema } from "./types";

/** One sentence where a text, or the file that it comes from, is longer than is taken; null where it is not. */
export function tooLong(what: string, text: string, { letters, bytes }: LimitsSchema): string | null {
  const has = text.length > letters ? lettersOf(text) : text.length;
  if (has > letters) return `${what} has ${number(has)} letters; at most ${number(letters)} are accepted at once`;
  const size = new Blob([JSON.stringify({ text })]).size;
  return size > bytes ? `${what} has ${number(size)} bytes as it is sent; at most ${number(bytes)} are accepted at once` : null;
}

/** The same of a file that has not been read. */
export function tooLarge(what: string, size: number, { file }: LimitsSchema): string | null {
  return size > file ? `${what} has ${number(size)} bytes; a file of names has at most ${number(file)}` : null;
}

/** How many letters a text has, as the library counts them: a sign of two halves is one. */
function lettersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
