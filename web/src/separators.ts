// The separators of columns with several values in a field.

/** Separators to choose from; two commas mean every second comma, as in "Last, F., Last, F.". */
export const SEPARATORS = [";", ",", "|", "/", " and ", " & ", ",,", "\n", "\t"] as const;

const NAMES: Record<string, string> = { ";": "; semicolon", ",": ", comma", "|": "| bar", "/": "/ slash", ",,": "every second comma", "\n": "line break", "\t": "tab" };

/** Separators in words; none means a single value. */
export function describeSeparators(marks: readonly string[]): string {
  if (marks.length === 0) return "one value";
  return marks.map((mark) => NAMES[mark] ?? `“${mark.trim() === "" ? mark : mark.trim()}”`).join(" or ");
}
