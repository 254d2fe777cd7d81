// The legend below the network: the labels of the query with their colours, and what the other marks are.
import { counted, el, number } from "./dom";
import { shortName } from "./geometry";
import type { Model } from "./graph_model";
import type { NetworkAnswer, Node } from "./types";

/** More labels than these share one colour. */
const LABELS = 8;

/** `show` highlights the nodes of the label under the pointer, or none with null. */
export function legendOf(model: Model, network: NetworkAnswer, show: (nodes: Node[] | null) => void): (HTMLElement | false)[] {
  const roles = new Set(model.roles);
  const labelled = model.legend.filter((each) => each.label !== "");
  const entry = (each: { label: string; colour: string; count: number }): HTMLElement => {
    const nodes = (): Node[] => model.nodes.filter((_, at) => model.roles[at] === "query" && network.nodes.label[at] === each.label);
    const [begin, end] = [() => show(nodes()), () => show(null)];
    const events = { onpointerenter: begin, onpointerleave: end, onfocus: begin, onblur: end };
    return el("button", { type: "button", class: "graph-key", ...events }, disc(each.colour), el("bdi", {}, shortName(each.label, 40)), el("span", { class: "count" }, number(each.count)));
  };
  const unlabelled = el("span", { class: "graph-key" }, disc(model.legend[0]?.colour ?? ""), "your query");
  return [
    ...(labelled.length > 0 ? labelled.slice(0, LABELS).map(entry) : [unlabelled]),
    labelled.length > LABELS && el("span", { class: "graph-key" }, `${counted(labelled.length - LABELS, "more label")} in grey`),
    roles.has("cell") && mark("square", "chosen cell"),
    (roles.has("neighbor") || roles.has("brought")) && mark("ring", roles.has("neighbor") ? "neighbour" : "added object"),
    roles.has("cell") && !model.simple && mark("dashes", "dashed: member of the cell"),
    model.weight.some((weight, at) => weight < model.heaviest && !isMembership(model, at)) && mark("thick", "thicker: heavier link"),
    model.simple && el("span", { class: "graph-key quiet" }, "links of the query only; point at a node for its own"),
  ];
}

const isMembership = ({ roles, source, target }: Model, link: number): boolean => roles[source[link]!] === "cell" || roles[target[link]!] === "cell";

const mark = (kind: string, text: string): HTMLElement => el("span", { class: "graph-key" }, el("i", { class: `graph-mark ${kind}` }), text);

function disc(colour: string): HTMLElement {
  const circle = el("i", { class: "graph-mark disc" });
  circle.style.background = colour;
  return circle;
}
