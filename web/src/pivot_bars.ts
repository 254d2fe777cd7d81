// A cube of one dimension: its labels as bars, with how many of the query each holds.
import { addedChange } from "./actions";
import { stopped } from "./client";
import { counted, el, fill, number } from "./dom";
import { shortName } from "./geometry";
import type { Store } from "./state";
import type { DimensionSchema, MembersAnswer } from "./types";
import { whenVisible } from "./tabs";

const SHOWN = 40;
const TAKEN = 2000;

/** The number of objects of a label, and of those in the query. */
interface Bar {
  label: string;
  members: MembersAnswer;
  mine: number;
}

/** Shows the labels of a cube's only dimension, largest first; a click adds their objects to the query. */
export function mountBars(root: HTMLElement, store: Store, ended: AbortSignal): void {
  const dimension: DimensionSchema | undefined = store.cube.dimensions[0];
  const told = el("p", { class: "pivot-told", "aria-live": "polite" }, "Counting…");
  const list = el("ul", { class: "pivot-bars pad" });
  root.append(told, list);
  const labels = dimension?.levels[0]?.first.slice(0, SHOWN) ?? [];
  let flight: AbortController | null = null;
  const draw = async (): Promise<void> => {
    flight?.abort();
    const { signal } = (flight = new AbortController());
    const { between, kind, query } = store.request;
    const view = { ...(between ? { between } : {}), ...(kind ? { kind } : {}) };
    const known = new Set(query.map(String));
    const bars: Bar[] = [];
    try {
      for (const label of labels) {
        const members = await store.client.ask("members", { cells: [[label]], most: TAKEN, ...view }, { signal });
        bars.push({ label, members, mine: members.ids.filter((id) => known.has(String(id))).length });
      }
    } catch (error) {
      if (!stopped(error) && !signal.aborted) store.refuse(error);
      return;
    }
    bars.sort((one, two) => two.mine - one.mine || two.members.objects - one.members.objects);
    const most = Math.max(1, ...bars.map(({ members }) => members.objects));
    const more = (dimension?.levels[0]?.labels ?? 0) - labels.length;
    told.textContent = `${counted(labels.length, "label")} of ${dimension?.name ?? ""}${more > 0 ? `, ${number(more)} more not shown` : ""}. Click one to add its objects.`;
    fill(list, ...bars.map((bar) => row(bar, most)));
  };
  const row = ({ label, members, mine }: Bar, most: number): HTMLElement => {
    const bar = el("span", { class: "pivot-bar-fill" });
    bar.style.width = `${(100 * members.objects) / most}%`;
    const add = (): void => void store.move(addedChange(store.request, members.ids)).catch((error: unknown) => store.refuse(error));
    const text = `${number(members.objects)}${store.request.query.length > 0 ? ` · ${number(mine)} of your objects` : ""}`;
    return el("li", {}, el("button", { type: "button", class: "link", onclick: add }, el("bdi", {}, shortName(label, 60))), el("span", { class: "pivot-bar-track" }, bar), el("span", { class: "quiet" }, text));
  };
  const request = whenVisible(root, () => void draw(), ended);
  store.subscribe((changed) => changed.has("network") && request(), ended);
  request();
}
