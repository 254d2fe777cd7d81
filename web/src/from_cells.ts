// Start from cells: a label of each dimension, and the objects of that cell into the query.
import { refusalOf } from "./client";
import { counted, el, number } from "./dom";
import { sentence } from "./sentences";
import type { Store } from "./state";
import type { MembersAnswer, NameRow } from "./types";

const ALL = "∗";
const MOST = 200;

export function mountFromCells(root: HTMLElement, store: Store, add: (rows: NameRow[]) => void): void {
  const chosen = store.cube.dimensions.map(() => ALL);
  const told = el("p", { class: "small quiet", role: "status" });
  const take = el("button", { type: "button", disabled: true }, "Add its objects");
  let found: MembersAnswer | null = null;
  let asked = 0;

  async function look(): Promise<void> {
    const mine = (asked += 1);
    found = null;
    take.disabled = true;
    take.textContent = "Add its objects";
    if (chosen.every((label) => label === ALL)) {
      told.textContent = "";
      return;
    }
    try {
      const answer = await store.client.ask("members", { cells: [chosen], most: MOST });
      if (mine !== asked) return;
      found = answer;
      told.textContent = sentence(answer.sentence);
      take.disabled = answer.ids.length === 0;
      take.textContent =
        answer.ids.length < answer.objects
          ? `Add the ${number(answer.ids.length)} with most items`
          : `Add ${counted(answer.ids.length, "object")}`;
    } catch (error) {
      if (mine === asked) told.textContent = sentence(refusalOf(error).sentence);
    }
  }

  const fields = store.cube.dimensions.map((dimension, place) => {
    const select = el("select", { "aria-label": `Label of ${dimension.name}` }, el("option", { value: ALL }, "all"));
    select.addEventListener("change", () => {
      chosen[place] = select.value;
      void look();
    });
    for (const level of dimension.levels) {
      const options = level.first.map((label) => el("option", { value: label }, label));
      if (dimension.levels.length === 1) select.append(...options);
      else select.append(el("optgroup", { label: level.name }, ...options));
    }
    return el("label", { class: "field" }, el("span", {}, dimension.name), select);
  });
  take.addEventListener("click", () => {
    if (!found) return;
    add(found.ids.map((id, at) => ({ given: String(id), state: "found", id, name: found?.names[at] ?? String(id), label: "", candidates: [] })));
    told.textContent = "";
    take.disabled = true;
  });
  root.append(el("div", { class: "fields" }, ...fields), told, take);
}
