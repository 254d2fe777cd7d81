// Colours of labels: one for each label of the query, by name, so that the same labels have the same colours everywhere.

/** So many labels have a colour of their own; further ones share them. The classes label-0 … set `--label`. */
export const LABEL_COLOURS = 10;

/** The number of every label's colour; objects without a label have none. */
export function labelNumbers(labels: Iterable<string>): Map<string, number> {
  const names = [...new Set(labels)].filter((label) => label !== "").sort((a, b) => (a < b ? -1 : 1));
  return new Map(names.map((label, place) => [label, place % LABEL_COLOURS]));
}

/** The class that gives an element its label's colour. */
export function labelClass(numbers: ReadonlyMap<string, number>, label: string): string {
  const number = numbers.get(label);
  return number === undefined ? "label-none" : `label-${number}`;
}

/** What a custom property of the theme is now, for canvases: `themeColour(root, "--label-3")`. */
export function themeColour(root: Element, property: string): string {
  return getComputedStyle(root).getPropertyValue(property).trim();
}

/** Calls back when light turns to dark or dark to light. */
export function whenThemeChanges(redraw: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
