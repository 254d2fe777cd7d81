// A box that finds nodes of the network by their names, and flies there.
import { el, fill, freshId } from "./dom";
import { shortName } from "./geometry";
import type { Model } from "./graph_model";
import type { Store } from "./state";

const MOST = 8;

/** Positions of the nodes whose names have a text in them: names that begin so first, then words, then hubs. */
export function foundIn(model: Pick<Model, "names" | "degrees">, text: string, most = MOST): number[] {
  const wanted = text.trim().toLocaleLowerCase();
  if (wanted === "") return [];
  const found: { at: number; rank: number }[] = [];
  model.names.forEach((name, at) => {
    const where = name.toLocaleLowerCase().indexOf(wanted);
    if (where < 0) return;
    found.push({ at, rank: where === 0 ? 0 : /[\s·⟨-]/.test(name[where - 1] ?? "") ? 1 : 2 });
  });
  found.sort((a, b) => a.rank - b.rank || model.degrees[b.at]! - model.degrees[a.at]!);
  return found.slice(0, most).map((each) => each.at);
}

export function mountSearch(store: Store, model: () => Model | null, visit: (position: number) => void): HTMLElement {
  const listId = freshId("found");
  const list = el("ul", { id: listId, role: "listbox", class: "graph-found", "aria-label": "Nodes found", hidden: true });
  const input = el("input", {
    type: "search",
    placeholder: "Find in the network",
    "aria-label": "Find in the network",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": listId,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
  });
  let found: number[] = [];
  let active = -1;
  const mark = (at: number): void => {
    active = at;
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    if (at >= 0) input.setAttribute("aria-activedescendant", `${listId}-${at}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const close = (): void => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  };
  const take = (position: number): void => {
    input.value = shortName(model()!.names[position]!, 90);
    close();
    visit(position);
  };
  const look = (): void => {
    const now = model();
    found = now === null ? [] : foundIn(now, input.value);
    fill(
      list,
      ...found.map((position, at) =>
        el("li", { role: "option", id: `${listId}-${at}`, "aria-selected": "false", onpointerdown: (event: PointerEvent) => { event.preventDefault(); take(position); } }, el("bdi", {}, shortName(now!.names[position]!, 70))),
      ),
      input.value.trim() !== "" && found.length === 0 && el("li", { class: "quiet", role: "option", "aria-disabled": "true" }, "no node has this in its name"),
    );
    list.hidden = list.children.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark(found.length > 0 ? 0 : -1);
  };
  input.addEventListener("input", look);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return close();
    if (event.key === "Enter" && !list.hidden && found[Math.max(0, active)] !== undefined) {
      event.preventDefault();
      return take(found[Math.max(0, active)]!);
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    if (list.hidden) look();
    if (found.length > 0) mark((active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length);
  });
  store.subscribe((changed) => changed.has("network") && close());
  return el("div", { class: "graph-search" }, input, list);
}
