// Ask: names typed, pasted or dropped, what each of them means, and the button that makes their network.
import "./ask.css";
import type { Refusal } from "./client";
import { counted, el, fill, number } from "./dom";
import { mountFromCells } from "./from_cells";
import { namesField } from "./names_field";
import { Draft, named } from "./query_draft";
import { queryLists } from "./query_lists";
import { sentence } from "./sentences";
import type { Store } from "./state";
import type { NameRow } from "./types";

export function mountAsk(root: HTMLElement, store: Store, ended: AbortSignal): void {
  const draft = new Draft();
  let failed: Refusal | null = null;

  const make = el("button", { type: "button", class: "primary wide", "data-do": "make", onclick: () => void run() }, "Make the network");
  const told = el("p", { class: "small quiet", role: "status", "aria-live": "polite" });
  const count = el("span", { class: "small quiet" });
  const clear = el("button", { type: "button", class: "bare", onclick: () => changed(() => draft.clear(), true) }, "Remove all");
  const hint = el("div", { class: "hint" });
  const start = el("details", { class: "start" }, el("summary", {}, "Start from cells"));
  const lists = queryLists(draft, {
    choose(one, candidate) {
      store.learn(candidate.id, candidate.name);
      changed(() => draft.choose(one, candidate));
    },
    drop: (one) => changed(() => draft.drop(one), true),
    dropUnsure: () => changed(() => draft.dropUnsure()),
    select: (id) => store.select({ object: id }),
  });
  const names = namesField(root, store, {
    found(rows, said) {
      failed = null;
      add(rows);
      told.textContent = sentence(said);
    },
    refused(refusal) {
      failed = refusal;
      draw();
    },
    typed: () => drawButton(),
    run: () => void run(),
  });

  /** Changes the query to be by hand: what was said of a list before is over. */
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
    if ((await names.take()) && draft.sure.length > 0) await store.move(draft.question);
  }

  function draw(): void {
    const many = draft.sure.length;
    lists.draw(failed && sentence(failed.sentence));
    clear.hidden = draft.size === 0;
    hint.hidden = draft.size > 0;
    count.textContent = many === 0 ? "" : counted(many, "object");
    drawButton();
  }

  function drawButton(): void {
    const many = draft.sure.length;
    make.disabled = many === 0 && names.empty;
    make.classList.toggle("primary", store.network === null || !draft.isQueryOf(store.ask));
    make.textContent = draft.unsure.length > 0 && many > 0 ? `Make the network of ${number(many)}` : "Make the network";
  }

  /** Takes the query of the store, when that came from an address or by going back. */
  function follow(): void {
    if (draft.isQueryOf(store.ask)) return drawButton();
    draft.follow(store.ask, (id) => store.nameOf(id));
    draw();
  }

  async function suggest(): Promise<void> {
    const { candidates } = await store.client.ask("complete", { text: "a", most: 3 });
    if (candidates.length === 0) return;
    const rows = candidates.map(({ id, name }) => named(id, name));
    fill(
      hint,
      el("p", { class: "small quiet" }, "For example"),
      ...rows.map((row) => el("button", { type: "button", class: "bare", onclick: () => add([row]) }, row.name)),
      rows.length > 1 ? el("button", { type: "button", class: "bare", onclick: () => add(rows) }, "all of them") : null,
    );
  }

  root.classList.add("ask", "pad");
  root.append(
    ...names.elements,
    el("div", { class: "act" }, make, el("kbd", { class: "small quiet" }, "Ctrl Enter")),
    told,
    hint,
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
    if (parts.has("ask")) follow();
    if (parts.has("network")) drawButton();
    if (parts.has("names") && draft.rename((id) => store.nameOf(id))) draw();
  }, ended);
  follow();
  draw();
  void suggest().catch(() => undefined);
}
