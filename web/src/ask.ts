// The query: names that are typed, pasted or dropped, the objects they mean, and the button that makes the network.
import "./ask.css";
import type { Refusal } from "./client";
import { counted, el, fill, number } from "./dom";
import { mountFromCells } from "./from_cells";
import { namesField, type Found } from "./names_field";
import { Draft, named, summarizeNames } from "./query_draft";
import { queryLists } from "./query_lists";
import { sentence } from "./words";
import { nearOf } from "./requests";
import type { Store } from "./state";
import type { NameRow } from "./types";

/** Maximum number of objects of one name that are offered. */
const MOST_BEARERS = 100;

export function mountAsk(root: HTMLElement, store: Store, ended: AbortSignal): void {
  const draft = new Draft();
  let failed: Refusal | null = null;
  /** The draft after a table was read: while it is unchanged, choosing another column replaces the rows. */
  let ofTable: unknown = null;

  const make = el("button", { type: "button", class: "primary wide", "data-do": "make", onclick: () => void run() }, "Make the network");
  const told = el("p", { class: "small quiet", role: "status", "aria-live": "polite" });
  const count = el("span", { class: "small quiet" });
  const clear = el("button", { type: "button", class: "bare", onclick: () => changed(() => draft.clear(), true) }, "Remove all");
  const hint = el("div", { class: "hint" });
  const stale = el("p", { class: "small stale row", role: "status", hidden: true });
  const start = el("details", { class: "start" }, el("summary", {}, "Start from cells"));
  const lists = queryLists(draft, {
    choose(one, candidate) {
      store.learn(candidate.id, candidate.name);
      let there: NameRow | null = null;
      changed(() => (there = draft.choose(one, candidate)));
      told.textContent = there === null ? "" : twice(there, one);
    },
    drop: (one) => changed(() => draft.drop(one), true),
    dropUnsure: () => changed(() => draft.dropUnsure()),
    takeSuggested: () => changed(() => draft.chooseSuggested().forEach(({ id, name }) => store.learn(id, name))),
    async bearers(one) {
      const many = one.bearers ?? 0;
      if (many <= one.candidates.length) return one.candidates;
      const { candidates } = await store.client.ask("complete", { text: one.given, most: Math.min(many, MOST_BEARERS) });
      const there = new Set(one.candidates.map(({ id }) => String(id)));
      const alike = candidates.filter(({ id, name }) => name.toLowerCase() === one.given.toLowerCase() && !there.has(String(id)));
      return [...one.candidates, ...alike];
    },
    select: (id) => store.select({ object: id }),
  });
  const names = namesField(root, store, {
    found: show,
    foundInstead(answer) {
      if (ofTable === draft.mark) draft.undo();
      show(answer);
    },
    refused(refusal) {
      failed = refusal;
      draw();
    },
    typed: () => drawButton(),
    run: () => void run(),
  });

  function show({ rows, notes, question }: Found): void {
    failed = null;
    const before = draft.mark;
    add(rows);
    told.textContent = sentence(question ?? summarizeNames(draft, notes));
    ofTable = draft.mark !== before ? draft.mark : null;
  }

  /** Changes the draft by hand, and clears the message about the last list. */
  function changed(change: () => void, focus = false): void {
    change();
    told.textContent = "";
    draw();
    if (focus) names.focus();
  }

  function add(rows: readonly NameRow[]): void {
    for (const { id, name } of rows) if (id !== null) store.learn(id, name);
    draft.add(rows);
    draw();
  }

  async function run(): Promise<void> {
    if (!(await names.take()) || draft.sure.length === 0) return;
    await store.move({ ...draft.edited, ...nearOf(store.request, draft.edited.query) });
  }

  function draw(): void {
    const many = draft.sure.length;
    lists.draw(failed && sentence(failed.sentence));
    clear.hidden = draft.size === 0;
    hint.hidden = draft.size > 0;
    count.textContent = many === 0 ? "" : counted(many, "object");
    store.edit(draft.edited);
    drawButton();
  }

  function drawButton(): void {
    const many = draft.sure.length;
    make.disabled = many === 0 && names.empty;
    make.classList.toggle("primary", store.network === null || !draft.isQueryOf(store.request));
    make.textContent = draft.unsure.length > 0 && many > 0 ? `Make the network of ${number(many)}` : "Make the network";
    drawStale(many);
  }

  /** Shows a hint while the list and the network differ. */
  function drawStale(many: number): void {
    stale.hidden = store.network === null || store.edited === null;
    if (stale.hidden) return fill(stale);
    const before = store.network?.request.query.length ?? 0;
    const again = el("button", { type: "button", class: "bare", "data-do": "make-again", onclick: () => void run() }, "Update the network");
    const back = el("button", { type: "button", class: "bare", "data-do": "put-back", onclick: () => changed(() => draft.putBack(store.request, (id) => store.nameOf(id))) }, "Restore them");
    fill(stale, el("span", {}, `The network shown is for the previous ${counted(before, "object")}.`), many > 0 ? again : null, back);
  }

  /** Takes the query of the store after undo or a change of the address, unless the draft was edited. */
  function follow(): void {
    if (draft.isQueryOf(store.request)) {
      if (draft.canUndo || draft.canRedo) draft.settle();
      return drawButton();
    }
    if (store.edited !== null) return drawButton();
    draft.follow(store.request, (id) => store.nameOf(id));
    draw();
  }

  function suggest(): void {
    const rows = store.cube.examples.map(({ id, name }) => named(id, name));
    if (rows.length === 0) return;
    fill(
      hint,
      el("p", { class: "small quiet" }, "For example"),
      rows.length > 1 ? el("button", { type: "button", class: "bare", onclick: () => add(rows) }, rows.length === 3 ? "all three" : "both") : null,
      ...rows.map((row) => el("button", { type: "button", class: "bare", onclick: () => add([row]) }, row.name)),
    );
  }

  root.classList.add("ask", "pad");
  root.append(
    ...names.elements,
    el("div", { class: "act" }, make, el("kbd", { class: "small quiet" }, "Ctrl Enter")),
    told,
    hint,
    stale,
    lists.trouble,
    el("div", { class: "row between" }, count, clear),
    lists.legend,
    lists.chips,
    start,
  );
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    void run();
  });
  start.addEventListener("toggle", () => start.open && start.childElementCount === 1 && mountFromCells(start, store, add, ended));
  store.subscribe((parts) => {
    if (parts.has("request")) follow();
    if (parts.has("given")) void names.lookUp(store.given);
    if (parts.has("network")) drawButton();
    if (parts.has("names") && draft.rename((id) => store.nameOf(id))) draw();
  }, ended);
  store.edits = {
    get canUndo() {
      return draft.canUndo;
    },
    get canRedo() {
      return draft.canRedo;
    },
    undo: () => changed(() => draft.undo()),
    redo: () => changed(() => draft.redo()),
  };
  follow();
  draw();
  suggest();
}

/** The message for a name whose object is already in the list. */
function twice(there: NameRow, one: NameRow): string {
  if (there.label === one.label) return `${there.name} is already in the list.`;
  return `${there.name} was given twice with different labels; ${there.label === "" ? "the one without a label" : `the label ${there.label}`} is kept.`;
}
