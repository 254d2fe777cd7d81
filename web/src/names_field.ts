// The field in which names are typed, pasted or dropped, and their lookup; a refused text is put back.
import { Refusal, refusalOf } from "./client";
import { completing } from "./completion";
import { el, fill } from "./dom";
import { named } from "./query_draft";
import type { Store } from "./state";
import { tooLarge, tooLong } from "./text_limits";
import type { Candidate, NameRow, NamesAnswer, NamesRequest } from "./types";

/** The outcome of a lookup: every name has one object, some have not, the request failed, or the text is too long. */
type Outcome = "sure" | "unsure" | "refused" | "long";

/** Names as given: a text or a file. */
type Given = Pick<NamesRequest, "text" | "file" | "name">;

/** The names that were looked up, notes on them, and a question if the column of the names must be chosen. */
export interface Found {
  rows: readonly NameRow[];
  notes: readonly string[];
  question?: string;
}

/** Callbacks of the field. */
export interface Listening {
  found(answer: Found): void;
  /** Called after the column of a table was chosen: its rows replace the previous ones. */
  foundInstead(answer: Found): void;
  refused(refusal: Refusal): void;
  typed(): void;
  /** Ctrl Enter was pressed. */
  run(): void;
}

export interface NamesField {
  readonly elements: HTMLElement[];
  /** Whether the field is empty and no lookup is running. */
  readonly empty: boolean;
  focus(): void;
  /** Looks up the text of the field, waits for running lookups, and returns whether every name is resolved. */
  take(): Promise<boolean>;
  /** Looks up names that came with labels. */
  lookUp(names: readonly (readonly [name: string, label: string])[]): Promise<void>;
}

export function namesField(root: HTMLElement, store: Store, heard: Listening): NamesField {
  const { limits } = store.cube;
  const field = el("textarea", {
    rows: 3,
    class: "names",
    "aria-label": "Names of the query",
    placeholder: "Type a name, or paste several",
  });
  const file = el("input", { type: "file", accept: ".csv,.tsv,.tab,.txt,.xlsx,.parquet,.jsonl,.ndjson,text/csv,text/plain", hidden: true });
  /** Whether the text of the field was put back: then it is not looked up while typing. */
  let putBack = false;
  const columns = el("select", { "aria-label": "Column of the names" });
  const which = el("label", { class: "row small which", hidden: true }, el("span", {}, "Names are in the column"), columns);
  let table: Given = {};
  /** Running lookups, which making the network waits for. */
  const pending = new Set<Promise<Outcome>>();

  async function lookUp(text: string, what = "this list"): Promise<Outcome> {
    if (text.trim() === "") return "sure";
    const long = tooLong(what, text, limits);
    if (long !== null) {
      heard.refused(new Refusal(long, "page"));
      return "long";
    }
    return ask({ text });
  }

  async function ask(given: Given, column?: string): Promise<Outcome> {
    const asked = answered(given, column);
    pending.add(asked);
    heard.typed();
    return asked.finally(() => {
      pending.delete(asked);
      heard.typed();
    });
  }

  async function answered(given: Given, column?: string): Promise<Outcome> {
    try {
      const answer = await store.client.ask("names", column === undefined ? given : { ...given, column });
      putBack = false;
      const found: Found = { rows: answer.rows, notes: answer.notes, ...(answer.column === null ? { question: answer.sentence } : {}) };
      (column === undefined ? heard.found : heard.foundInstead)(found);
      if (column === undefined) offer(given, answer);
      return answer.ambiguous === 0 && answer.missing === 0 && answer.column !== null ? "sure" : "unsure";
    } catch (error) {
      if (column === undefined) which.hidden = true;
      const refusal = refusalOf(error);
      const begins = given.name !== undefined && refusal.sentence.startsWith(given.name);
      heard.refused(begins ? new Refusal(`the file ${refusal.sentence}`, refusal.kind) : refusal);
      return "refused";
    }
  }

  /** Offers the choice of the column of a table; it gets the focus if no column has known names. */
  function offer(given: Given, { columns: has = [], column }: NamesAnswer): void {
    which.hidden = has.length < 2 || column?.toLowerCase() === "object";
    table = which.hidden ? {} : given;
    const option = (value: string, text: string): HTMLElement => el("option", { value, selected: value === column }, text);
    const choose = el("option", { value: "", disabled: true, selected: true }, "choose");
    fill(columns, column === null ? choose : null, ...has.map((name) => option(name, name)));
    if (column === null) columns.focus();
  }

  /** Puts a text into the field, before what was typed meanwhile. */
  function keep(text: string): void {
    putBack = true;
    field.value = [text.trimEnd(), field.value].filter((part) => part !== "").join("\n");
    heard.typed();
  }

  async function take(): Promise<boolean> {
    const text = field.value;
    const before = [...pending];
    field.value = "";
    const outcome = await lookUp(text);
    if (outcome === "refused" || outcome === "long") keep(text);
    return [outcome, ...(await Promise.all(before))].every((each) => each === "sure");
  }

  /** Looks up a pasted or dropped text; one that is too long is not put into the field. */
  async function takeText(text: string, what?: string): Promise<void> {
    if ((await lookUp(text, what)) === "refused") keep(text);
  }

  async function takeFile(given: File | undefined): Promise<void> {
    if (!given) return;
    const what = `the file ${given.name}`;
    const large = tooLarge(what, given.size, limits);
    if (large !== null) return heard.refused(new Refusal(large, "page"));
    const bytes = await given.arrayBuffer().catch(() => null);
    if (bytes === null) return heard.refused(new Refusal(`${what} cannot be read`, "page"));
    await ask({ file: base64(new Uint8Array(bytes)), name: given.name });
  }

  function takeCandidate(one: Candidate): void {
    const at = field.selectionStart;
    const begin = field.value.lastIndexOf("\n", at - 1) + 1;
    field.value = field.value.slice(0, begin) + field.value.slice(at).replace(/^[^\n]*\n?/, "");
    heard.found({ rows: [named(one.id, one.name)], notes: [] });
  }

  const lineBefore = (): string => field.value.slice(0, field.selectionStart).split("\n").pop()?.trim() ?? "";
  const find = async (text: string, signal: AbortSignal) => {
    const { candidates } = await store.client.ask("complete", { text, most: 8 }, { signal });
    return candidates.map((one) => ({ text: one.name, about: about(one), take: () => takeCandidate(one) }));
  };
  const box = completing(field, find, { word: lineBefore, whole: true });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.key !== "Enter") return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) heard.run();
    else void take();
  });
  field.addEventListener("input", () => {
    if (field.value === "") putBack = false;
    if (!putBack && /\n./.test(field.value)) void take();
    else heard.typed();
  });
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\n\t;|]/.test(text.trim())) return;
    event.preventDefault();
    void takeText(text);
  });
  columns.addEventListener("change", () => void ask(table, columns.value));
  file.addEventListener("change", () => void takeFile(file.files?.[0]).finally(() => (file.value = "")));
  takeDrops(root, (dropped) => void (typeof dropped === "string" ? takeText(dropped) : takeFile(dropped)));

  const open = el("button", { type: "button", class: "bare", onclick: () => file.click() }, "Load a list");
  return {
    elements: [box, el("div", { class: "row" }, open, el("span", { class: "small quiet" }, "of names, or drop it here"), file), which],
    get empty() {
      return field.value.trim() === "" && pending.size === 0;
    },
    focus: () => field.focus(),
    async lookUp(names) {
      const labelled = names.some(([, label]) => label !== "");
      const rows = names.map((pair) => (labelled ? pair : pair.slice(0, 1)).map(quoted).join(","));
      await takeText([labelled ? "object,label" : "object", ...rows].join("\n"));
    },
    take,
  };
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Bytes in base64. */
function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Calls a function with files and texts that are dropped onto an element. */
function takeDrops(root: HTMLElement, taken: (dropped: File | string) => void): void {
  root.addEventListener("dragover", (event) => {
    event.preventDefault();
    root.classList.add("dropping");
  });
  root.addEventListener("dragleave", () => root.classList.remove("dropping"));
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    root.classList.remove("dropping");
    taken(event.dataTransfer?.files[0] ?? event.dataTransfer?.getData("text/plain") ?? "");
  });
}

/** The description that distinguishes an object from others of its name. */
export const about = (one: Candidate): string => one.about || one.kind;
