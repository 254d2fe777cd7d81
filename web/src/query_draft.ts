// The query to be: names that were given, and whom each of them means.
import { same } from "./state";
import type { Ask, Candidate, Id, NameRow } from "./types";

/** A name of the query to be: what was given and, once it is known, whom it means. */
export type Entry = NameRow;
export type SureEntry = Entry & { id: Id };

export class Draft {
  private entries: Entry[] = [];

  get size(): number {
    return this.entries.length;
  }

  /** Those who mean one object, in their order. */
  get sure(): SureEntry[] {
    return this.entries.filter((one): one is SureEntry => one.id !== null);
  }

  /** Those who mean several objects, or none. */
  get unsure(): Entry[] {
    return this.entries.filter((one) => one.id === null);
  }

  /** Adds names; an object that is there already stays once. */
  add(rows: readonly Entry[]): void {
    const known = new Set(this.sure.map((one) => String(one.id)));
    for (const row of rows) {
      if (row.state === "repeated" || (row.id !== null && known.has(String(row.id)))) continue;
      if (row.id !== null) known.add(String(row.id));
      this.entries.push(row);
    }
  }

  drop(one: Entry): void {
    this.entries = this.entries.filter((other) => other !== one);
  }

  dropUnsure(): void {
    this.entries = this.sure;
  }

  clear(): void {
    this.entries = [];
  }

  /** Says whom a name means; it goes where that object is there already. */
  choose(one: Entry, { id, name }: Candidate): void {
    if (this.entries.some((other) => other !== one && other.id === id)) return this.drop(one);
    Object.assign(one, { state: "found", id, name });
  }

  get question(): { query: Id[]; labels: string[] | null } {
    const labels = this.sure.map((one) => one.label);
    return { query: this.sure.map((one) => one.id), labels: labels.some((label) => label !== "") ? labels : null };
  }

  isQueryOf(ask: Ask): boolean {
    return same(this.question, { query: ask.query, labels: ask.labels ?? null });
  }

  /** Takes the query of a question in place of its own; names that mean nobody yet stay. */
  follow(ask: Ask, nameOf: (id: Id) => string): void {
    const taken = ask.query.map((id, place) => ({ ...named(id, nameOf(id)), label: ask.labels?.[place] ?? "" }));
    this.entries = [...taken, ...this.unsure];
  }

  /** Takes names that have become known; says whether any of them is another than before. */
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
