// Colours of labels: one for each label of the query, by name, so that the same labels have the same colours everywhere.

/** Number of labels with a colour of their own; others are grey. The classes label-0 … set `--label`. */
export const LABEL_COLOURS = 8;

/** The number of every label's colour; objects without a label have none. */
export function labelNumbers(labels: Iterable<string>): Map<string, number> {
  const names = [...new Set(labels)].filter((label) => label !== "").sort((a, b) => (a < b ? -1 : 1));
  return new Map(names.map((label, place) => [label, place]));
}

/** The class that gives an element its label's colour. */
export function labelClass(numbers: ReadonlyMap<string, number>, label: string): string {
  const number = numbers.size === 0 ? 0 : numbers.get(label);
  return number === undefined || number >= LABEL_COLOURS ? "label-none" : `label-${number}`;
}
