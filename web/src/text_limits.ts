// Checks of the length of texts and files before they are sent.
import { number } from "./dom";
import type { LimitsSchema } from "./types";

/** A sentence if a text is too long for a request; else null. */
export function tooLong(what: string, text: string, { letters, bytes }: LimitsSchema): string | null {
  const has = text.length > letters ? lettersOf(text) : text.length;
  if (has > letters) return `${what} has ${number(has)} letters; at most ${number(letters)} are accepted at once`;
  const size = new Blob([JSON.stringify({ text })]).size;
  return size > bytes ? `${what} has ${number(size)} bytes as it is sent; at most ${number(bytes)} are accepted at once` : null;
}

/** The same for a file, before it is read. */
export function tooLarge(what: string, size: number, { file }: LimitsSchema): string | null {
  return size > file ? `${what} has ${number(size)} bytes; a file of names has at most ${number(file)}` : null;
}

/** The number of code points of a text, which the library counts. */
function lettersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
