// Ask: names typed, pasted or dropped, what each of them means, and the button that makes their network.
import "./ask.css";
import type { Refusal } from "./client";
import { refusalOf } from "./client";
import { labelClass, labelNumbers } from "./colours";
import { completing } from "./completion";
import { counted, el, fill, number } from "./dom";
import { sentence } from "./gate";
import { mountStart } from "./start";
import { same, type Store } from "./state";
import type { Ask, Candidate, Id, NameRow } from "./types";

/** A name of the query to be: what was given and, once it is known, whom it means. */
type Entry = NameRow;

/** So many objects and names that mean nobody are listed without a word. */
const SHOWN = 200;
const UNSURE = 50;
/** So many labels are listed. */
const LABELS = 24;

export function mountAsk(root: HTMLElement, store: Store, ended: AbortSignal): void {
  let entries: Entry[] = [];
  let all = false;
  let failed: Refusal | null = null;

  const field = el("textarea", {
    rows: 3,
    class: "names",
    "aria-label": "Names of the query",
    placeholder: "Type a name, or paste a list",
  });
  const file = el("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv,text/plain", hidden: true });
  const make = el("button", { type: "button", class: "primary wide", "data-do": "make" }, "Make the network");
  const told = el("p", { class: "small quiet", role: "status", "aria-live": "polite" });
  const trouble = el("ul", { class: "trouble" });
  const legend = el("ul", { class: "legend", "aria-label": "Labels of the query" });
  const chips = el("ul", { class: "chips", "aria-label": "Objects of the query" });
  const clear = el("button", { type: "button", class: "bare" }, "Remove all");
  const hint = el("div", { class: "hint" });
  const start = el("details", { class: "start" }, el("summary", {}, "Start from cells"));

  const lineBefore = (): string => field.value.slice(0, field.selectionStart).split("\n").pop()?.trim() ?? "";
  const box = completing(
    field,
    async (text, signal) => {
      const { candidates } = await store.client.ask("complete", { text, most: 8 }, { signal });
      return candidates.map((one) => ({ text: one.name, about: about(one), take: () => takeCandidate(one) }));
    },
    { word: lineBefore },
  );

  function takeCandidate(one: Candidate): void {
    const at = field.selectionStart;
    const begin = field.value.lastIndexOf("\n", at - 1) + 1;
    field.value = field.value.slice(0, begin) + field.value.slice(at).replace(/^[^\n]*\n?/, "");
    add([rowOf(one)]);
  }

  function add(rows: readonly Entry[]): void {
    const known = new Set(entries.filter((one) => one.id !== null).map((one) => String(one.id)));
    for (const row of rows) {
      if (row.id !== null) store.learn(row.id, row.name);
      if (row.id !== null && known.has(String(row.id))) continue;
      if (row.state === "repeated") continue;
      if (row.id !== null) known.add(String(row.id));
      entries.push(row);
    }
    draw();
  }

  /** Finds what names mean; says whether all of them mean one object. */
  async function resolve(text: string): Promise<boolean> {
    if (text.trim() === "") return true;
    try {
      const answer = await store.client.ask("names", { text });
      failed = null;
      add(answer.rows);
      told.textContent = sentence(answer.sentence);
      return answer.ambiguous === 0 && answer.missing === 0;
    } catch (error) {
      failed = refusalOf(error);
      draw();
      return false;
    }
  }

  async function takeText(): Promise<boolean> {
    const text = field.value;
    field.value = "";
    return resolve(text);
  }

  async function run(): Promise<void> {
    const clean = await takeText();
    if (!clean) return;
    const question = drafted();
    if (question.query?.length) await store.move(question);
  }

  function drafted(): Pick<Ask, "query" | "labels"> {
    const sure = entries.filter((one) => one.id !== null);
    const labels = sure.map((one) => one.label);
    return { query: sure.map((one) => one.id as Id), labels: labels.some((label) => label !== "") ? labels : null };
  }

  function draw(): void {
    const sure = entries.filter((one) => one.id !== null);
    const unsure = entries.filter((one) => one.id === null);
    const labels = sure.map((one) => one.label);
    const numbers = labelNumbers(labels);
    fill(
      trouble,
      failed ? el("li", { class: "bad" }, sentence(failed.sentence)) : null,
      ...unsure.slice(0, UNSURE).map(drawTrouble),
      unsure.length > 1
        ? el("li", { class: "row between" }, el("span", {}, `${number(unsure.length)} names mean nobody yet`), el("button", { type: "button", "data-do": "leave-out", onclick: () => leaveOut() }, "Leave them out"))
        : null,
    );
    fill(legend, ...drawLegend(labels, numbers));
    const shown = all ? sure : sure.slice(0, SHOWN);
    fill(
      chips,
      ...shown.map((one) => drawChip(one, labelClass(numbers, one.label))),
      shown.length < sure.length
        ? el("li", {}, el("button", { type: "button", class: "bare", onclick: () => ((all = true), draw()) }, `Show ${number(sure.length - shown.length)} more`))
        : null,
    );
    clear.hidden = entries.length === 0;
    hint.hidden = entries.length > 0;
    count.textContent = sure.length === 0 ? "" : counted(sure.length, "object");
    drawButton();
  }

  function drawButton(): void {
    const sure = entries.filter((one) => one.id !== null);
    const unsure = entries.length - sure.length;
    const changed = !same(drafted(), { query: store.ask.query, labels: store.ask.labels ?? null });
    make.disabled = sure.length === 0 && field.value.trim() === "";
    make.classList.toggle("primary", changed || store.network === null);
    make.textContent = unsure > 0 && sure.length > 0 ? `Make the network of ${number(sure.length)}` : "Make the network";
  }

  function leaveOut(): void {
    entries = entries.filter((one) => one.id !== null);
    told.textContent = "";
    draw();
  }

  function drawChip(one: Entry, label: string): HTMLElement {
    return el(
      "li",
      { class: `chip ${label}`, title: one.label === "" ? null : one.label },
      el("span", { class: "dot" }),
      el("button", { type: "button", class: "name", onclick: () => store.select({ object: one.id as Id }) }, one.name),
      el("button", { type: "button", class: "remove", "aria-label": `Remove ${one.name}`, onclick: () => drop(one) }, "×"),
    );
  }

  function drawTrouble(one: Entry): HTMLElement {
    const many = one.state === "ambiguous";
    const choose = (candidate: Candidate): void => {
      store.learn(candidate.id, candidate.name);
      const taken = entries.some((other) => other !== one && other.id === candidate.id);
      entries = taken ? entries.filter((other) => other !== one) : entries;
      Object.assign(one, { state: "found", id: candidate.id, name: candidate.name });
      told.textContent = "";
      draw();
    };
    return el(
      "li",
      { class: one.state, "data-given": one.given },
      el(
        "div",
        { class: "row" },
        el("strong", {}, one.given),
        el("span", { class: "tag" }, many ? "which one?" : "not in the cube"),
        el("button", { type: "button", class: "remove", "aria-label": `Remove ${one.given}`, onclick: () => drop(one) }, "×"),
      ),
      one.candidates.length > 0 && !many ? el("p", { class: "small quiet" }, "Did you mean") : null,
      el(
        "div",
        { class: "candidates" },
        ...one.candidates.map((candidate) =>
          el(
            "button",
            { type: "button", onclick: () => choose(candidate) },
            el("span", {}, candidate.name),
            about(candidate) ? el("span", { class: "about" }, about(candidate)) : null,
          ),
        ),
      ),
    );
  }

  function drop(one: Entry): void {
    entries = entries.filter((other) => other !== one);
    draw();
    field.focus();
  }

  /** Takes the query of the store, when that came from an address or by going back. */
  function follow(): void {
    if (same(drafted(), { query: store.ask.query, labels: store.ask.labels ?? null })) return drawButton();
    const unsure = entries.filter((one) => one.id === null);
    entries = store.ask.query.map((id, place) => ({
      given: String(id),
      state: "found",
      id,
      name: store.nameOf(id),
      label: store.ask.labels?.[place] ?? "",
      candidates: [],
    }));
    entries.push(...unsure);
    draw();
  }

  function rename(): void {
    let renamed = false;
    for (const one of entries) {
      const name = one.id === null ? one.name : store.nameOf(one.id);
      renamed ||= name !== one.name;
      one.name = name;
    }
    if (renamed) draw();
  }

  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.key !== "Enter") return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) void run();
    else void takeText();
  });
  field.addEventListener("input", () => {
    if (/\n./.test(field.value)) void takeText();
    else drawButton();
  });
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\n\t]/.test(text.trim())) return;
    event.preventDefault();
    void resolve(text);
  });
  file.addEventListener("change", () => void takeFile(file.files?.[0]).finally(() => (file.value = "")));
  root.addEventListener("dragover", (event) => {
    event.preventDefault();
    root.classList.add("dropping");
  });
  root.addEventListener("dragleave", () => root.classList.remove("dropping"));
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    root.classList.remove("dropping");
    const dropped = event.dataTransfer?.files[0];
    if (dropped) void takeFile(dropped);
    else void resolve(event.dataTransfer?.getData("text/plain") ?? "");
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    void run();
  });
  make.addEventListener("click", () => void run());
  clear.addEventListener("click", () => {
    entries = [];
    told.textContent = "";
    draw();
    field.focus();
  });

  async function takeFile(given: File | undefined): Promise<void> {
    if (!given) return;
    if (given.size > 8_000_000) {
      told.textContent = `${given.name} has ${number(Math.round(given.size / 1e6))} MB; a list of names has at most 8.`;
      return;
    }
    await resolve(await given.text());
  }

  async function suggest(): Promise<void> {
    const { candidates } = await store.client.ask("complete", { text: "a", most: 3 });
    if (candidates.length === 0) return;
    fill(
      hint,
      el("p", { class: "small quiet" }, "For example"),
      ...candidates.map((one) => el("button", { type: "button", class: "bare", onclick: () => add([rowOf(one)]) }, one.name)),
      el("button", { type: "button", class: "bare", onclick: () => add(candidates.map(rowOf)) }, "all three"),
    );
  }

  const count = el("span", { class: "small quiet" });
  root.classList.add("ask", "pad");
  root.append(
    box,
    el(
      "div",
      { class: "row" },
      el("button", { type: "button", class: "bare", onclick: () => file.click() }, "Open a file"),
      el("span", { class: "small quiet" }, "or drop a CSV here"),
      file,
    ),
    el("div", { class: "act" }, make, el("kbd", { class: "small quiet" }, "Ctrl Enter")),
    told,
    hint,
    trouble,
    el("div", { class: "row between" }, count, clear),
    legend,
    chips,
    start,
  );
  start.addEventListener("toggle", () => start.open && start.childElementCount === 1 && mountStart(start, store, add), { once: false });
  store.subscribe((changed) => {
    if (changed.has("ask")) follow();
    if (changed.has("network")) drawButton();
    if (changed.has("names")) rename();
  }, ended);
  follow();
  draw();
  void suggest().catch(() => undefined);
}

function drawLegend(labels: readonly string[], numbers: ReadonlyMap<string, number>): HTMLElement[] {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const rows = [...numbers.keys()].slice(0, LABELS).map((label) =>
    el(
      "li",
      { class: labelClass(numbers, label) },
      el("span", { class: "dot" }),
      el("span", { class: "name" }, label),
      el("span", { class: "quiet" }, number(counts.get(label) ?? 0)),
    ),
  );
  const more = numbers.size - rows.length;
  return more > 0 ? [...rows, el("li", { class: "quiet" }, `and ${counted(more, "more label")}`)] : rows;
}

function rowOf(one: Candidate): Entry {
  return { given: one.name, state: "found", id: one.id, name: one.name, label: "", candidates: [] };
}

const about = (one: Candidate): string => one.about || one.kind;
