// The header: the cube, a sentence about the network, undo and redo, and a search.
import { completing } from "./completion";
import { counted, el, fill, number } from "./dom";
import { shortName } from "./geometry";
import { nodeAt, titleAt } from "./nodes";
import type { Store } from "./state";
import type { NetworkAnswer } from "./types";
import { plain, sentence } from "./words";

/** Number of objects without a cell that are named. */
const NAMED = 4;

export function mountHeader(root: HTMLElement, store: Store, ended: AbortSignal): void {
  const said = el("p", { class: "said", role: "status", "aria-live": "polite", "data-said": "" });
  const undo = el("button", { type: "button", class: "bare", "aria-label": "Undo", title: "Undo (Alt ←)", onclick: () => store.undo() }, "↶");
  const redo = el("button", { type: "button", class: "bare", "aria-label": "Redo", title: "Redo (Alt →)", onclick: () => store.redo() }, "↷");
  root.append(
    el("div", { class: "brand" }, mark(), el("h1", { title: store.cube.attribution || null }, store.cube.name)),
    said,
    el("div", { class: "tools" }, undo, redo, search(store)),
  );
  let now = "";
  const draw = (): void => {
    undo.disabled = !store.canUndo;
    redo.disabled = !store.canRedo;
    const { network, cube } = store;
    if (network === null) {
      if (now !== cube.sentence) fill(said, sentence(cube.sentence));
      now = cube.sentence;
      return;
    }
    const { holds, held, loose } = headlineOf(network);
    const note = network.certificate.includes(network.note) ? "" : sentence(plain(network.note));
    const told = JSON.stringify([holds, held, note, loose.map((place) => network.nodes.id[place])]);
    if (now === told) return;
    now = told;
    const named = loose.slice(0, NAMED).flatMap((place, at) => [
      at > 0 && ", ",
      el("button", { type: "button", class: "link", onclick: () => store.select(nodeAt(network, place)) }, el("bdi", {}, shortName(network.nodes.name[place]!, 40))),
    ]);
    const more = loose.length > NAMED ? ` and ${number(loose.length - NAMED)} more` : "";
    fill(said, `${holds} ${held}`, ...named, loose.length > 0 && `${more}.`, note !== "" && el("span", { class: "note" }, ` ${note}`));
  };
  store.subscribe(draw, ended);
  draw();
}

/** Finds nodes of the network by name, and objects of the cube that are not in it. */
function search(store: Store): HTMLElement {
  const field = el("input", { type: "search", placeholder: "Find in the cube", "aria-label": "Find an object or a cell", "data-do": "find" });
  const box = completing(field, async (text, signal) => {
    const wanted = text.toLowerCase();
    const network = store.network;
    const here = network ? found(network, wanted).slice(0, 10) : [];
    const inside = new Set(here.map((place) => String(network?.nodes.id[place])));
    const { candidates } = await store.client.ask("complete", { text, most: 5 }, { signal });
    return [
      ...here.map((place) => ({
        text: network ? titleAt(network, place) : "",
        about: network?.nodes.labels[place] ? "cell" : "",
        take: () => take(() => network && store.select(nodeAt(network, place))),
      })),
      ...candidates
        .filter(({ id }) => !inside.has(String(id)) && !network?.nodes.id.includes(id))
        .map((one) => ({
          text: one.name,
          about: "not in the network",
          take: () =>
            take(() => {
              store.learn(one.id, one.name);
              store.select({ object: one.id });
            }),
        })),
    ];
  });
  const take = (select: () => void): void => {
    field.value = "";
    select();
  };
  box.classList.add("search");
  return box;
}

function found(network: NetworkAnswer, wanted: string): number[] {
  const places = network.nodes.name.flatMap((name, place) => (name.toLowerCase().includes(wanted) ? [place] : []));
  const begins = (place: number): boolean => (network.nodes.name[place] ?? "").toLowerCase().startsWith(wanted);
  return places.sort((a, b) => Number(begins(b)) - Number(begins(a)) || a - b);
}

function mark(): SVGElement {
  return drawing("0 0 20 20", 20, "M10 1.5 17.5 5.75v8.5L10 18.5 2.5 14.25v-8.5Z M2.5 5.75 10 10l7.5-4.25 M10 10v8.5");
}

/** An icon of one path, in the colour of the text. */
export function drawing(view: string, width: number, path: string): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "path");
  for (const [name, value] of Object.entries({ viewBox: view, width, fill: "none", stroke: "currentColor", "stroke-width": 1.6, "stroke-linejoin": "round", "aria-hidden": "true" })) svg.setAttribute(name, String(value));
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export interface Headline {
  /** The contents of the network. */
  holds: string;
  /** How many objects of the query are in cells; empty without cells. */
  held: string;
  /** The positions of objects of the query that are in no cell. */
  loose: number[];
}

export function headlineOf(network: NetworkAnswer): Headline {
  const { role, cells } = network.nodes;
  const count = (wanted: string): number => role.filter((one) => one === wanted).length;
  const mine = role.flatMap((one, at) => (one === "query" ? [at] : []));
  const loose = mine.filter((at) => cells[at]!.length === 0);
  const chosen = network.cells.length;
  const others: [number, string][] = [
    [count("neighbor"), "neighbour"],
    [count("brought"), "added object"],
    [count("pinned"), "pinned object"],
  ];
  const parts = [`your ${counted(mine.length, "object")}`, ...others.flatMap(([many, what]) => (many > 0 ? [counted(many, what)] : [])), ...(chosen > 0 ? [counted(chosen, "cell")] : [])];
  const last = parts.pop()!;
  const { source, target } = network.links;
  const lines = source.filter((one, at) => role[one] === "cell" || role[target[at]!] === "cell").length;
  const links = `${counted(source.length - lines, "link")}${lines > 0 ? ` and ${counted(lines, "link")} to ${chosen === 1 ? "the cell" : "cells"}` : ""}`;
  const holds = `${parts.length > 0 ? `${parts.join(", ")} and ${last}` : last}; ${links}.`;
  if (chosen === 0) return { holds: capital(holds), held: "", loose: [] };
  const inside = mine.length - loose.length;
  const where = chosen === 1 ? "the cell" : `the ${number(chosen)} cells`;
  const held = loose.length === 0 ? `All of your objects are in ${where}.` : `${number(inside)} of your ${counted(mine.length, "object")} ${inside === 1 ? "is" : "are"} in ${where}; ${number(loose.length)} ${loose.length === 1 ? "is" : "are"} ${chosen === 1 ? "not" : "in none of them"}: `;
  return { holds: capital(holds), held, loose };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
