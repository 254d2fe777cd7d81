// The draft of a query: the given names and the objects they mean, with undo.
import { same } from "./requests";
import type { NetworkRequest, Candidate, Id, NameRow } from "./types";
import { counted, number } from "./dom";

/** A name of the draft: the given text and, once known, its object. */
export type Entry = NameRow;
export type SureEntry = Entry & { id: Id };

export class Draft {
  private entries: Entry[] = [];
  private past: Entry[][] = [];
  private future: Entry[][] = [];

  /** Replaces the entries, as a step that can be undone. */
  private become(entries: Entry[]): void {
    this.past.push(this.entries);
    this.future = [];
    this.entries = entries;
  }

  /** A value that differs after every step. */
  get mark(): unknown {
    return this.entries;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  undo(): void {
    const before = this.past.pop();
    if (before === undefined) return;
    this.future.push(this.entries);
    this.entries = before;
  }

  redo(): void {
    const after = this.future.pop();
    if (after === undefined) return;
    this.past.push(this.entries);
    this.entries = after;
  }

  /** Clears the undo history. */
  settle(): void {
    this.past = [];
    this.future = [];
  }

  get size(): number {
    return this.entries.length;
  }

  /** Entries with one object, in order. */
  get sure(): SureEntry[] {
    return this.entries.filter((one): one is SureEntry => one.id !== null);
  }

  /** Entries with several objects, or none. */
  get unsure(): Entry[] {
    return this.entries.filter((one) => one.id === null);
  }

  /** Adds names; objects that are already there are not repeated. */
  add(rows: readonly Entry[]): void {
    const known = new Set(this.sure.map((one) => String(one.id)));
    const fresh: Entry[] = [];
    for (const row of rows) {
      if (row.state === "repeated" || (row.id !== null && known.has(String(row.id)))) continue;
      if (row.id !== null) known.add(String(row.id));
      fresh.push(row);
    }
    if (fresh.length > 0) this.become([...this.entries, ...fresh]);
  }

  drop(one: Entry): void {
    this.become(this.entries.filter((other) => other !== one));
  }

  dropUnsure(): void {
    this.become(this.sure);
  }

  clear(): void {
    this.become([]);
  }

  /** Sets the object of a name. If the object is already there, the name is removed and the other entry returned. */
  choose(one: Entry, { id, name }: Candidate): Entry | null {
    const there = this.entries.find((other) => other !== one && other.id !== null && String(other.id) === String(id));
    if (there !== undefined) this.drop(one);
    else this.become(this.entries.map((other) => (other === one ? { ...one, state: "found", id, name } : other)));
    return there ?? null;
  }

  /** Unknown names with one clearly nearest suggestion. */
  get suggested(): Entry[] {
    return this.unsure.filter((one) => one.state === "missing" && clearlyMeant(one.given, one.candidates) !== null);
  }

  /** Accepts all suggestions as one step; objects that are already there are not repeated. */
  chooseSuggested(): SureEntry[] {
    const known = new Set(this.sure.map((one) => String(one.id)));
    const taken: SureEntry[] = [];
    const wanted = new Set(this.suggested);
    const entries = this.entries.flatMap((one): Entry[] => {
      const first = wanted.has(one) ? clearlyMeant(one.given, one.candidates) : null;
      if (first === null) return [one];
      if (known.has(String(first.id))) return [];
      known.add(String(first.id));
      const now: SureEntry = { ...one, state: "found", id: first.id, name: first.name };
      taken.push(now);
      return [now];
    });
    if (wanted.size > 0) this.become(entries);
    return taken;
  }

  get edited(): { query: Id[]; labels: string[] | null } {
    const labels = this.sure.map((one) => one.label);
    return { query: this.sure.map((one) => one.id), labels: labels.some((label) => label !== "") ? labels : null };
  }

  isQueryOf(request: NetworkRequest): boolean {
    return same(this.edited, { query: request.query, labels: request.labels ?? null });
  }

  /** Replaces the query by that of a request; unresolved names stay. */
  follow(request: NetworkRequest, nameOf: (id: Id) => string): void {
    this.putBack(request, nameOf);
    this.settle();
  }

  /** The same as a step that can be undone. */
  putBack(request: NetworkRequest, nameOf: (id: Id) => string): void {
    const taken = request.query.map((id, place) => ({ ...named(id, nameOf(id)), label: request.labels?.[place] ?? "" }));
    this.become([...taken, ...this.unsure]);
  }

  /** Updates names that have become known; returns whether any changed. */
  rename(nameOf: (id: Id) => string): boolean {
    let renamed = false;
    for (const one of this.sure) {
      const name = nameOf(one.id);
      renamed ||= name !== one.name;
      one.name = name;
    }
    return renamed;
  }
}

/** An object as an entry. */
export function named(id: Id, name: string): SureEntry {
  return { given: String(id), state: "found", id, name, label: "", candidates: [] };
}

/** A summary of the draft: how many names were found, and notes on the last ones. */
export function summarizeNames({ size, sure, unsure }: Pick<Draft, "size" | "sure" | "unsure">, notes: readonly string[]): string {
  const found = unsure.length === 0 ? `${counted(size, "name")} found` : `${number(sure.length)} of ${counted(size, "name")} found`;
  return [found, ...notes].join("; ");
}

const plainly = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const words = (text: string): string[] => plainly(text).match(/[\p{L}\p{N}]+/gu) ?? [];

/** The clearly nearest suggestion for a name; null if the user has to choose. */
export function clearlyMeant(given: string, candidates: readonly Candidate[]): Candidate | null {
  const own = words(given);
  const whole = candidates.filter(({ name }) => own.every((word) => words(name).includes(word)));
  if (whole.length > 1) return null;
  const ranked = candidates.map((one) => ({ one, slips: slips(own.join(" "), words(one.name).join(" ")) })).sort((a, b) => a.slips - b.slips);
  const [first, second] = ranked;
  if (first === undefined) return null;
  return second === undefined || first.slips < second.slips ? first.one : null;
}

/** The edit distance of two texts. */
function slips(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at += 1) {
    const row = [at + 1];
    for (let to = 0; to < other.length; to += 1) row.push(Math.min(before[to + 1]! + 1, row[to]! + 1, before[to]! + (one[at] === other[to] ? 0 : 1)));
    before = row;
  }
  return before[other.length]!;
}
