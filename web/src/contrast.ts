// Compare two queries: the cells that distinguish them, as bars with intervals.
import "./contrast.css";
import { refusalOf, stopped } from "./client";
import { counted, el, fill, freshId, number } from "./dom";
import type { Contrast, SeparatingCell } from "./explanations";
import { shortName } from "./geometry";
import { labelClass, labelNumbers } from "./colours";
import { percent } from "./cells";
import { spotlightOf } from "./spotlight";
import { viewOf } from "./requests";
import type { Store } from "./state";
import type { NetworkRequest, Id } from "./types";
import { whenVisible } from "./tabs";
import { plain, sentence } from "./words";

/** One side of a comparison: objects and their name. */
export interface Side {
  name: string;
  ids: Id[];
  label: string | null;
}

/** The sides that a query offers: all of it, and each of its labels if there are several. */
export function sidesOf(request: NetworkRequest): Side[] {
  const labels = request.labels ?? [];
  const names = [...new Set(labels)].filter((label) => label !== "").sort((a, b) => (a < b ? -1 : 1));
  const parts = names.length < 2 ? [] : names.map((label) => ({ name: label, label, ids: request.query.filter((_, at) => labels[at] === label) }));
  return [{ name: "the query", ids: request.query, label: null }, ...parts];
}

/** The change of the request to a query of both sides, labelled by side; objects of both have both names. */
export function bothChange(first: Side, second: Side): Partial<NetworkRequest> {
  const [ones, twos] = [new Set(first.ids.map(String)), new Set(second.ids.map(String))];
  const query = [...first.ids, ...second.ids.filter((id) => !ones.has(String(id)))];
  const called = first.name === second.name ? `${second.name} (2)` : second.name;
  const labels = query.map((id) => (!ones.has(String(id)) ? called : twos.has(String(id)) ? `${first.name} and ${called}` : first.name));
  return { query, labels };
}

const REST = "rest";
const LASSO = "lasso";
const PASTE = "paste";
const NOBODY = "none of these names means one object of the cube, so that there is no other side to compare with";

export function mountContrast(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("against");
  const spotlight = spotlightOf(store);
  const one = el("select", { "aria-label": "One side" });
  const two = el("select", { "aria-label": "The other side" });
  const names = el("textarea", { rows: 4, "aria-label": "Names of the other side", placeholder: "One name a line" });
  const pasted = el("div", { class: "against-names", hidden: true }, names, el("button", { type: "button", onclick: () => void compare() }, "Compare"));
  const said = el("p", { class: "against-said", "aria-live": "polite" });
  const body = el("div", { class: "against-body" });
  const both = el("button", { type: "button", hidden: true, "data-do": "see-both", title: "Show the network of both sides, coloured by side" }, "See both");
  const id = freshId("against");
  one.id = `${id}-one`;
  two.id = `${id}-two`;
  root.append(
    el("div", { class: "against-sides" }, el("label", { for: one.id }, "What distinguishes"), one, el("label", { for: two.id }, "from"), two),
    pasted,
    said,
    el("div", { class: "row" }, both),
    body,
  );
  let flight: AbortController | null = null;
  let drawn = "";

  /** Fill the choices, and keep the selected ones where possible. */
  const offer = (): void => {
    const sides = sidesOf(store.request);
    const lassoed = spotlight.lassoed.filter((node) => "object" in node).length;
    const now = JSON.stringify([sides.map((side) => [side.name, side.ids.length]), lassoed]);
    if (now === drawn) return;
    drawn = now;
    const option = (value: string, text: string, chosen: string) => el("option", { value, selected: value === chosen }, text);
    const by = (side: Side, at: number, chosen: string) => option(String(at), `${shortName(side.name, 50)} (${number(side.ids.length)})`, chosen);
    const labelled = sides.length > 2;
    const [first, second] = [one.value || (labelled ? "1" : "0"), two.value || (labelled ? "2" : REST)];
    fill(one, ...sides.map((side, at) => by(side, at, first)));
    fill(
      two,
      option(REST, "everyone else in the cube", second),
      ...(labelled ? sides.slice(1).map((side, at) => by(side, at + 1, second)) : []),
      lassoed > 0 && option(LASSO, `the lassoed nodes (${number(lassoed)})`, second),
      option(PASTE, "names that I paste", second),
    );
    if (two.value === "") two.value = REST;
    if (one.value === "") one.value = "0";
  };

  /** The other side: its objects, or null for all others. */
  const other = async (signal: AbortSignal): Promise<Side | null> => {
    if (two.value === REST) return null;
    if (two.value === LASSO) return { name: "the lassoed", ids: spotlight.lassoed.flatMap((node) => ("object" in node ? [node.object] : [])), label: null };
    if (two.value !== PASTE) return sidesOf(store.request)[Number(two.value)] ?? null;
    const answer = await store.client.ask("names", { text: names.value }, { signal });
    const ids = answer.rows.flatMap((row) => (row.state === "found" && row.id !== null ? [row.id] : []));
    said.textContent = answer.found === answer.rows.length ? "" : answer.sentence;
    return { name: "the pasted", ids, label: null };
  };

  const compare = async (): Promise<void> => {
    flight?.abort();
    const mine = (flight = new AbortController());
    const first = sidesOf(store.request)[Number(one.value)];
    if (first === undefined || first.ids.length === 0) return fill(body, el("p", { class: "quiet" }, "Make a network first, then compare its query with another one here."));
    if (two.value === PASTE && names.value.trim() === "") return fill(body, el("p", { class: "quiet" }, "Paste the names of the other side above."));
    if (body.querySelector(".against-cells") === null) fill(body, el("p", { class: "quiet" }, "Comparing…"));
    body.classList.add("waiting");
    try {
      const second = await other(mine.signal);
      if (mine.signal.aborted) return;
      if (second?.ids.length === 0) throw new Error(NOBODY);
      const sides = second === null ? {} : { against: second.ids };
      const called = [first.name, second?.name ?? "the rest"];
      const answer = await store.client.ask("contrast", { query: first.ids, names: called, ...sides, ...viewOf(store.request) }, { signal: mine.signal });
      if (mine.signal.aborted) return;
      both.hidden = second === null;
      both.onclick = () => second !== null && seeBoth(first, second);
      show(body, store, answer.contrast as unknown as Contrast, [classOf(store, first, "one"), classOf(store, second, "two")], answer.sentence);
    } catch (error) {
      if (stopped(error) || mine.signal.aborted) return;
      fill(body, el("p", { class: "against-refused" }, sentence(refusalOf(error).sentence)));
    }
    body.classList.remove("waiting");
  };

  /** Shows the network of both sides, coloured by side. */
  const seeBoth = (first: Side, second: Side): void => {
    one.value = two.value = ""; // the two sides will be labels, and are chosen as such
    pasted.hidden = true;
    root.closest(".c2n")?.querySelector<HTMLElement>('[data-tab="network"]')?.click();
    void store.move(bothChange(first, second)).catch((error: unknown) => store.refuse(error));
  };

  const chosen = (): void => {
    both.hidden = true;
    pasted.hidden = two.value !== PASTE;
    said.textContent = "";
    if (two.value === PASTE) names.focus();
    void compare();
  };
  one.addEventListener("change", chosen);
  two.addEventListener("change", chosen);
  const request = whenVisible(root, () => void compare(), ended);
  const follow = (): void => {
    offer();
    request();
  };
  store.subscribe((changed) => changed.has("network") && follow(), ended);
  spotlight.subscribe(offer);
  follow();
}

function classOf(store: Store, side: Side | null, otherwise: string): string {
  if (side === null || side.label === null) return `against-${otherwise}`;
  return labelClass(labelNumbers(store.request.labels ?? []), side.label);
}

/** A p-value, and whether it is significant. */
export function pValueText(value: number): string {
  if (value < 0.001) return "significant (p\u00a0<\u00a00.001)";
  return value < 0.05 ? `significant (p\u00a0=\u00a0${value.toFixed(3)})` : `not significant (p\u00a0=\u00a0${value.toFixed(2)})`;
}

function show(body: HTMLElement, store: Store, contrast: Contrast, classes: [string, string], told: string): void {
  const [first, second] = contrast.sides ?? [];
  const key = (side: { name: string; objects: number } | undefined, look: string) =>
    side === undefined ? null : el("span", { class: `against-key ${look}` }, el("i", { class: "dot" }), el("bdi", {}, shortName(side.name, 60)), el("span", { class: "quiet" }, counted(side.objects, "object")));
  const cells = contrast.cells ?? [];
  const shown = cells.length > 0 ? cells : contrast.nearest ? [contrast.nearest] : [];
  fill(
    body,
    el("p", { class: "against-sentence" }, sentence(plain(told))),
    shown.length > 0 && el("div", { class: "against-keys" }, key(first, classes[0]), key(second, classes[1])),
    el("ol", { class: "against-cells" }, ...shown.map((cell) => row(store, cell, classes))),
    shown.length > 0 && el("p", { class: "quiet small" }, `Each bar is the share of a side that is in the cell; the whisker is the 95 % interval of the difference. ${contrast.tested === undefined ? "" : `${counted(contrast.tested, "cell")} tested, p-values corrected for that.`}`),
  );
}

function row(store: Store, cell: SeparatingCell, classes: [string, string]): HTMLElement {
  const side = (at: 0 | 1) => {
    const bar = el("span", { class: "against-bar" });
    bar.style.width = `${Math.max(0.5, 100 * cell.shares[at])}%`;
    return el("span", { class: `against-half ${classes[at]}` }, el("span", { class: "against-track" }, bar), el("span", { class: "against-number" }, percent(cell.shares[at])));
  };
  const [low, high] = cell.interval;
  const whisker = el("span", { class: "against-whisker" }, el("i", {}));
  const mark = whisker.firstElementChild as HTMLElement;
  // The first side is on the left: a positive difference points there.
  mark.style.left = `${50 - 50 * high}%`;
  mark.style.width = `${Math.max(0.6, 50 * (high - low))}%`;
  const lift = cell.lift === null ? "only there" : `${cell.lift.toFixed(1)} times as often`;
  const full = cell.labels.every((label) => label !== "∗");
  const title = cell.labels.filter((label) => label !== "∗");
  const names = (title.length === 0 ? cell.labels : title).flatMap((label, at) => [at > 0 && el("span", { class: "quiet" }, " · "), el("bdi", {}, shortName(label, 60))]);
  return el(
    "li",
    { title: cell.sentence === undefined ? null : shortName(cell.sentence, 400) },
    el("div", { class: "against-name" }, full ? el("button", { type: "button", class: "link", onclick: () => store.select({ cell: cell.labels }) }, ...names) : el("span", {}, ...names)),
    el("div", { class: "against-pair" }, side(0), side(1)),
    whisker,
    el("p", { class: "quiet small" }, `${number(cell.objects[0])} and ${number(cell.objects[1])} objects · ${lift} · ${pValueText(cell.p_value)}`),
  );
}
