// The cube as a heat map of two levels: a click drills down, chosen cells are outlined.
import "./pivot.css";
import { addedChange } from "./actions";
import { percent } from "./cells";
import { refusalOf, stopped } from "./client";
import { counted, el, fill, number } from "./dom";
import { mountBars } from "./pivot_bars";
import { shortName } from "./geometry";
import { heat, inkOn, liftHeat } from "./palette";
import { backTo, brief, cellOf, drilled, firstState, fullest, isFull, strength, withAxis, type Measure, type PivotState } from "./pivot_state";
import { nodeKey } from "./nodes";
import type { Store } from "./state";
import { onTheme, themeNow } from "./theme";
import type { Id, PivotAnswer, PivotRequest } from "./types";
import { whenVisible } from "./tabs";

const MOST = 60;
const TAKEN = 2000;
const MEASURES: Record<Measure, string> = { objects: "Objects", share: "Share of the query", lift: "Lift of the query" };

export function mountPivot(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("pivot");
  const first = firstState(store.cube.dimensions);
  if (first === null) {
    mountBars(root, store, ended);
    return;
  }
  new PivotView(root, store, first, ended);
}

class PivotView {
  private answer: PivotAnswer | null = null;
  private measure: Measure = "objects";
  private flight: AbortController | null = null;
  private asked = "";
  private at: [number, number] = [0, 0];
  /** The objects of the part shown that are not in the query; null while unknown. */
  private fresh: Id[] | null = null;
  private all = true;
  private readonly selects: Partial<Record<"rows" | "columns", HTMLSelectElement>> = {};
  private readonly bar = el("div", { class: "pivot-bar" });
  private readonly crumbs = el("nav", { class: "pivot-crumbs", "aria-label": "Counts by two dimensions" });
  private readonly told = el("p", { class: "pivot-told", "aria-live": "polite" });
  private readonly holder = el("div", { class: "pivot-holder" });

  constructor(
    private readonly root: HTMLElement,
    private readonly store: Store,
    private state: PivotState,
    ended: AbortSignal,
  ) {
    root.append(this.bar, this.crumbs, this.told, this.holder);
    this.holder.addEventListener("click", (event) => this.click(event));
    this.holder.addEventListener("keydown", (event) => this.key(event));
    this.holder.addEventListener("pointerover", (event) => this.tell(spot(event.target)));
    this.holder.addEventListener("pointerleave", () => this.tell(null));
    this.holder.addEventListener("focusin", (event) => {
      const at = spot(event.target);
      if (at === null) return;
      this.at = at;
      this.tell(at);
    });
    const request = whenVisible(root, () => void this.ask(), ended);
    store.subscribe((changed) => changed.has("network") && request(), ended);
    onTheme(() => this.draw(), ended);
    this.drawBar();
    request();
  }

  private go(state: PivotState): void {
    this.state = state;
    this.at = [0, 0];
    this.drawBar();
    void this.ask();
  }

  private view(): Pick<PivotRequest, "between" | "kind" | "where"> {
    const { between, kind, where } = this.store.request;
    const narrowed = Object.fromEntries(Object.entries(this.state.where).map(([level, label]) => [level, [label]]));
    return { ...(between ? { between } : {}), ...(kind ? { kind } : {}), where: { ...where, ...narrowed } };
  }

  private async ask(): Promise<void> {
    const { rows, columns } = this.state;
    const { network, request } = this.store;
    const body: PivotRequest = { rows, columns, query: request.query, cells: network?.cells.map((cell) => cell.labels) ?? [], most: MOST, ...this.view() };
    const asked = JSON.stringify(body);
    if (asked === this.asked) return;
    this.asked = asked;
    this.flight?.abort();
    const flight = (this.flight = new AbortController());
    this.holder.classList.add("waiting");
    if (this.answer === null) fill(this.holder, el("p", { class: "pad quiet" }, "Counting…"));
    try {
      const answer = await this.store.client.ask("pivot", body, { signal: flight.signal });
      if (flight.signal.aborted) return;
      this.answer = answer;
      this.draw();
      await this.count(flight.signal);
    } catch (error) {
      if (stopped(error) || flight.signal.aborted) return;
      this.asked = "";
      this.answer = null;
      fill(this.holder, el("p", { class: "pad pivot-refused" }, refusalOf(error).sentence));
    }
    this.holder.classList.remove("waiting");
  }

  private drawBar(): void {
    const { dimensions } = this.store.cube;
    const chooser = (axis: "rows" | "columns", title: string) => {
      const select = el("select", { "aria-label": title, onchange: () => this.go(withAxis(this.state, dimensions, axis, select.value)) });
      for (const dimension of dimensions) {
        const group = el("optgroup", { label: shortName(dimension.name, 40) });
        for (const level of dimension.levels) {
          group.append(el("option", { value: level.name, selected: level.name === this.state[axis] }, `${shortName(level.name, 40)} (${number(level.labels)})`));
        }
        select.append(group);
      }
      this.selects[axis] = select;
      return el("label", {}, el("span", {}, title), select);
    };
    const measure = el("select", { "aria-label": "Measure", onchange: () => { this.measure = measure.value as Measure; this.draw(); } });
    for (const [name, title] of Object.entries(MEASURES)) measure.append(el("option", { value: name, selected: name === this.measure }, title));
    const turn = el("button", { type: "button", title: "Rows become columns", "aria-label": "Rows become columns", onclick: () => this.go({ ...this.state, rows: this.state.columns, columns: this.state.rows }) }, "⇄");
    fill(this.bar, chooser("rows", "Rows"), turn, chooser("columns", "Columns"), el("label", {}, el("span", {}, "Measure"), measure));
    this.drawCrumbs();
  }

  private drawCrumbs(): void {
    const { dimensions } = this.store.cube;
    const { state, store } = this;
    const crumb = (text: string, at: number) =>
      at < state.trail.length
        ? el("button", { type: "button", class: "link", onclick: () => this.go(backTo(state, at)) }, el("bdi", {}, shortName(text, 60)))
        : el("strong", {}, el("bdi", {}, shortName(text, 60)));
    const names = ["All of the cube", ...state.trail.map(({ step }) => step)];
    const cell = cellOf(state, dimensions);
    const node = { cell };
    const full = isFull(state, dimensions);
    const chosen = store.network?.cells.some((each) => nodeKey({ cell: each.labels }) === nodeKey(node)) ?? false;
    fill(
      this.crumbs,
      el("span", { class: "pivot-path" }, ...names.flatMap((name, at) => [at > 0 && el("span", { class: "quiet" }, " › "), crumb(name, at)])),
      state.trail.length > 0 && el("button", { type: "button", "data-action": "take", disabled: this.fresh === null || this.fresh.length === 0, onclick: () => void this.take() }, this.offer()),
      full && el("button", { type: "button", "data-action": "pin", onclick: () => void store.togglePin(node).catch((error: unknown) => store.refuse(error)) }, store.isPinned(node) ? "Unpin this cell" : "Pin this cell"),
      full && chosen && el("button", { type: "button", onclick: () => store.select(node) }, "Why is it chosen?"),
    );
  }

  /** Requests the objects of the part shown that are not in the query, for their number. */
  private async count(signal: AbortSignal): Promise<void> {
    const { store } = this;
    this.fresh = null;
    if (this.state.trail.length === 0) return;
    const { where: _narrowed, ...view } = this.view();
    const { ids, objects } = await store.client.ask("members", { cells: [cellOf(this.state, store.cube.dimensions)], most: TAKEN, ...view }, { signal });
    if (signal.aborted) return;
    const known = new Set(store.request.query.map(String));
    this.fresh = ids.filter((id) => !known.has(String(id)));
    this.all = ids.length === objects;
    this.drawCrumbs();
  }

  private offer(): string {
    if (this.fresh === null) return "Add its objects";
    if (this.fresh.length === 0) return "All its objects are in the query";
    return this.all ? `Add its ${counted(this.fresh.length, "object")}` : `Add ${number(this.fresh.length)} of its objects, those with most items`;
  }

  /** Adds the objects of the part shown to the query, and shows their network. */
  private async take(): Promise<void> {
    const { store } = this;
    const ids = this.fresh ?? [];
    this.root.closest(".c2n")?.querySelector<HTMLElement>('[data-tab="network"]')?.click();
    try {
      await store.move(addedChange(store.request, ids));
    } catch (error) {
      if (!stopped(error)) store.refuse(error);
    }
  }

  // The table

  private draw(): void {
    const { answer, measure } = this;
    this.drawCrumbs();
    if (answer === null) return;
    // How many labels there are inside the time and the part that are shown.
    for (const [axis, many] of [["rows", answer.rows.length + answer.more_rows], ["columns", answer.columns.length + answer.more_columns]] as const) {
      const option = this.selects[axis]?.selectedOptions[0];
      if (option) option.textContent = `${shortName(this.state[axis], 40)} (${number(many)})`;
    }
    const theme = themeNow();
    const queried = this.store.request.query.length;
    const shown = this.values(answer);
    let largest = 0;
    for (const row of shown) for (const value of row) if (value !== null && value > largest) largest = value;
    const text = (value: number | null): string => {
      if (value === null || value === 0) return measure === "lift" && value === 0 ? "0" : "";
      return measure === "objects" ? brief(value) : measure === "share" ? `${value < 0.1 ? (100 * value).toFixed(1) : Math.round(100 * value)}` : value >= 10 ? String(Math.round(value)) : value.toFixed(1);
    };
    const head = answer.columns.map((label, column) =>
      el("th", { scope: "col" }, el("button", { type: "button", tabindex: -1, "data-at": `-1,${column}`, title: shortName(label, 200) }, el("bdi", {}, shortName(label, 40)))),
    );
    const body = answer.rows.map((label, row) => {
      const line = el("tr", {}, el("th", { scope: "row" }, el("button", { type: "button", tabindex: -1, "data-at": `${row},-1`, title: shortName(label, 200) }, el("bdi", {}, shortName(label, 60)))));
      answer.columns.forEach((_, column) => {
        const value = shown[row]![column]!;
        const cell = el("td", { tabindex: -1, "data-at": `${row},${column}`, role: "gridcell" }, text(value));
        const objects = answer.objects[row]![column]!;
        if (objects > 0 && value !== null && (value > 0 || measure === "lift")) {
          const colour = measure === "lift" ? liftHeat(value, theme, largest) : heat(strength(value, largest), theme);
          cell.style.background = colour;
          cell.style.color = inkOn(colour);
        } else if (objects === 0) cell.classList.add("none");
        if ((answer.chosen[row]?.[column] ?? 0) > 0) cell.classList.add("chosen");
        line.append(cell);
      });
      return line;
    });
    const wide = 190 + answer.columns.length * 64;
    const more = [
      answer.more_rows > 0 ? counted(answer.more_rows, "smaller row") : "",
      answer.more_columns > 0 ? counted(answer.more_columns, "smaller column") : "",
    ].filter((part) => part !== "");
    const table = el(
      "table",
      { role: "grid", "aria-label": `${this.state.rows} by ${this.state.columns}`, class: answer.columns.length > 9 ? "narrow" : null },
      el("thead", {}, el("tr", {}, el("td", { class: "pivot-corner" }, `${shortName(this.state.rows, 20)} ╲ ${shortName(this.state.columns, 20)}`), ...head)),
      el("tbody", {}, ...body),
    );
    table.style.minWidth = `min(100%, ${wide}px)`;
    const focused = this.holder.matches(":focus-within");
    fill(
      this.holder,
      measure !== "objects" && queried === 0 && el("p", { class: "pad quiet" }, "Enter a query to see its share and lift."),
      answer.rows.length === 0 || answer.columns.length === 0 ? el("p", { class: "pad" }, "No object has labels of both levels here.") : el("div", { class: "pivot-scroll", role: "region", "aria-label": "Heat map", tabindex: -1 }, table),
      more.length > 0 && el("p", { class: "pivot-more quiet" }, `${more.join(" and ")} not shown.`),
    );
    this.tell(null);
    this.reach(this.at, focused);
  }

  private values(answer: PivotAnswer): (number | null)[][] {
    if (this.measure === "objects") return answer.objects;
    if (this.measure === "lift") return answer.objects.map((row, at) => row.map((_, column) => answer.lift[at]?.[column] ?? null));
    const queried = Math.max(1, this.store.request.query.length);
    return answer.objects.map((row, at) => row.map((_, column) => (answer.query[at]?.[column] ?? 0) / queried));
  }

  private tell(at: [number, number] | null): void {
    const { answer } = this;
    if (answer === null) return;
    const hint = answer.finer.some((level) => level !== null) ? "Click to look closer." : "Click to look inside.";
    if (at === null) return void (this.told.textContent = `${fullest(answer, this.store.request.query.length)} ${hint}`);
    const [row, column] = at;
    if (row < 0 || column < 0) {
      const finer = answer.finer[row < 0 ? 1 : 0];
      const label = row < 0 ? answer.columns[column]! : answer.rows[row]!;
      this.told.textContent = `${shortName(label, 120)}: ${finer == null ? "look inside it" : `look at its ${finer}`}.`;
      return;
    }
    const [objects, query, lift, chosen] = [answer.objects, answer.query, answer.lift, answer.chosen].map((table) => table[row]?.[column] ?? null);
    const queried = this.store.request.query.length;
    const parts = [counted(objects ?? 0, "object")];
    if (queried > 0) parts.push(`${number(query ?? 0)} of your objects (${percent((query ?? 0) / queried)})`);
    if (lift != null && queried > 0) parts.push(`${lift.toFixed(1)} times as often as in the cube`);
    if (chosen) parts.push(counted(chosen, "chosen cell"));
    this.told.textContent = `${shortName(answer.rows[row]!, 80)} × ${shortName(answer.columns[column]!, 80)}: ${parts.join(", ")}.`;
  }

  private click(event: Event): void {
    const at = spot(event.target);
    if (at !== null) this.closer(at);
  }

  private closer([row, column]: [number, number]): void {
    const { answer } = this;
    if (answer === null || (row >= 0 && column >= 0 && answer.objects[row]![column] === 0)) return;
    const steps = [];
    if (row >= 0) steps.push({ axis: "rows" as const, label: answer.rows[row]!, finer: answer.finer[0] ?? null });
    if (column >= 0) steps.push({ axis: "columns" as const, label: answer.columns[column]!, finer: answer.finer[1] ?? null });
    if (steps.every(({ axis, label }) => this.state.where[this.state[axis]] === label)) return;
    this.go(drilled(this.state, this.store.cube.dimensions, steps));
  }

  private key(event: KeyboardEvent): void {
    const [row, column] = this.at;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, (this.answer?.columns.length ?? 1) - 1],
    };
    const to = moves[event.key];
    if (to !== undefined) this.reach(to, true);
    else if (event.key === "Enter" || event.key === " ") this.closer(this.at);
    else if (event.key === "Backspace" && this.state.trail.length > 0) this.go(backTo(this.state, this.state.trail.length - 1));
    else return;
    event.preventDefault();
  }

  /** Moves the focus to an entry of the table (roving tabindex). */
  private reach([row, column]: [number, number], focus: boolean): void {
    const [rows, columns] = [this.answer?.rows.length ?? 0, this.answer?.columns.length ?? 0];
    let at: [number, number] = [Math.min(rows - 1, Math.max(-1, row)), Math.min(columns - 1, Math.max(-1, column))];
    if (at[0] < 0 && at[1] < 0) at = this.at;
    const target = this.holder.querySelector<HTMLElement>(`[data-at="${at[0]},${at[1]}"]`);
    if (target === null) return;
    this.holder.querySelector<HTMLElement>('[data-at][tabindex="0"]')?.setAttribute("tabindex", "-1");
    target.setAttribute("tabindex", "0");
    this.at = at;
    if (focus) target.focus();
  }
}

function spot(target: EventTarget | null): [number, number] | null {
  const found = target instanceof Element ? target.closest<HTMLElement>("[data-at]") : null;
  if (found === null) return null;
  const [row, column] = found.dataset.at!.split(",").map(Number);
  return [row!, column!];
}
