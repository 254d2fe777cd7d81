// The library's sentences as people write them.

/** A lower-case sentence of the library with a capital letter and a full stop. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return text === "" || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
