// The network for drawing: keys, roles, neighbours, sizes, and the order of names.
import { coloursOf, LOOKS, type LabelColour, type Theme } from "./palette";
import { nodeAt, nodeKey, titleAt } from "./nodes";
import type { NetworkAnswer, Node, Role } from "./types";

/** Above this number of nodes the drawing is simpler: links of the query only, no animation, fewer names. */
export const SIMPLER = 5000;
/** Maximum number of links drawn then, the heaviest. */
export const MOST_LINKS = 20_000;

export interface Neighbours {
  starts: Uint32Array;
  ends: Uint32Array;
  links: Uint32Array;
}

export interface Model {
  size: number;
  simple: boolean;
  keys: string[];
  nodes: Node[];
  names: string[];
  roles: Role[];
  labels: string[];
  colours: string[];
  legend: LabelColour[];
  degrees: Uint32Array;
  positions: Map<string, number>;
  neighbours: Neighbours;
  source: readonly number[];
  target: readonly number[];
  weight: readonly number[];
  heaviest: number;
  /** Which links are drawn: all of a small network, those of the query in a large one. */
  drawn: Uint32Array;
  /** Positions of nodes, those to be named first in front. */
  order: Uint32Array;
}

/** The neighbours of every position, in one pass over the links. */
export function neighboursOf(size: number, source: readonly number[], target: readonly number[]): Neighbours {
  const starts = new Uint32Array(size + 1);
  for (let link = 0; link < source.length; link++) {
    starts[source[link]! + 1]!++;
    starts[target[link]! + 1]!++;
  }
  for (let at = 0; at < size; at++) starts[at + 1]! += starts[at]!;
  const next = starts.slice(0, size);
  const [ends, links] = [new Uint32Array(source.length * 2), new Uint32Array(source.length * 2)];
  for (let link = 0; link < source.length; link++) {
    const [one, two] = [source[link]!, target[link]!];
    links[next[one]!] = links[next[two]!] = link;
    ends[next[one]!++] = two;
    ends[next[two]!++] = one;
  }
  return { starts, ends, links };
}

/** The links that are drawn: in a large network only those inside the query, the heaviest where they are many. */
export function drawnLinks(network: NetworkAnswer, simple: boolean, most = MOST_LINKS): Uint32Array {
  const { source, target, weight } = network.links;
  const every = Uint32Array.from({ length: source.length }, (_, link) => link);
  if (!simple) return every;
  const roles = network.nodes.role;
  const inner = every.filter((link) => roles[source[link]!] === "query" && roles[target[link]!] === "query");
  return inner.length <= most ? inner : inner.sort((a, b) => weight[b]! - weight[a]!).slice(0, most);
}

/** Number of objects of the query named before cells, and of cells named before the rest of the query. */
const FIRST = 12;

/** The order of names: hubs of the query, cells, the rest of the query, other objects. */
export function namingOrder(roles: readonly Role[], degrees: Uint32Array): Uint32Array {
  const by = (wanted: (role: Role) => boolean): number[] =>
    roles.flatMap((role, at) => (wanted(role) ? [at] : [])).sort((a, b) => degrees[b]! - degrees[a]! || a - b);
  const objects = by((role) => role === "query" || role === "pinned");
  const cells = by((role) => role === "cell");
  const others = by((role) => role === "neighbor" || role === "brought");
  return Uint32Array.from([...objects.slice(0, FIRST), ...cells.slice(0, FIRST), ...objects.slice(FIRST), ...cells.slice(FIRST), ...others]);
}

export function modelOf(network: NetworkAnswer, theme: Theme): Model {
  const { nodes, links } = network;
  const size = nodes.id.length;
  const neighbours = neighboursOf(size, links.source, links.target);
  const degrees = new Uint32Array(size);
  for (let at = 0; at < size; at++) degrees[at] = neighbours.starts[at + 1]! - neighbours.starts[at]!;
  const given = nodes.id.map((_, at) => nodeAt(network, at));
  const keys = given.map(nodeKey);
  const queried = nodes.label.filter((_, at) => nodes.role[at] === "query");
  const legend = coloursOf(queried, theme);
  const byLabel = new Map(legend.map((each) => [each.label, each.colour]));
  const look = LOOKS[theme];
  const colours = nodes.role.map((role, at) =>
    role === "query" ? (byLabel.get(nodes.label[at]!) ?? look.faded) : role === "cell" ? look.cell : look.ring,
  );
  let heaviest = 0;
  for (const weight of links.weight) if (weight > heaviest) heaviest = weight;
  const simple = size > SIMPLER;
  return {
    size,
    simple,
    keys,
    nodes: given,
    names: nodes.name.map((_, at) => titleAt(network, at)),
    roles: nodes.role,
    labels: nodes.label,
    colours,
    legend,
    degrees,
    positions: new Map(keys.map((key, at) => [key, at])),
    neighbours,
    source: links.source,
    target: links.target,
    weight: links.weight,
    heaviest,
    drawn: drawnLinks(network, simple),
    order: namingOrder(nodes.role, degrees),
  };
}

/** A position and its neighbours. */
export function circleOf(model: Model, position: number): number[] {
  const { starts, ends } = model.neighbours;
  return [...new Set([position, ...ends.subarray(starts[position]!, starts[position + 1]!)])];
}

/** How large a node is drawn, in pixels: by role and degree, where `unit` is how far apart nodes lie on the screen. */
export function radiusOf(role: Role, degree: number, unit: number): number {
  const base = Math.min(6.5, Math.max(2.3, unit * 0.24));
  const hub = 1 + 0.16 * Math.min(4, Math.log2(1 + degree / 8));
  const share = role === "query" || role === "pinned" ? 1 : role === "cell" ? 0.86 : unit < 5 ? 0.55 : 0.68;
  return Math.max(1.2, base * share * hub);
}

/** Positions in the order of drawing; the query is on top. */
export function* drawingOrder(model: Model): Generator<number> {
  for (const wanted of [["neighbor", "brought"], ["cell"], ["pinned"], ["query"]]) {
    for (let at = 0; at < model.size; at++) if (wanted.includes(model.roles[at]!)) yield at;
  }
}

/** The colour of the common label of both ends of a link; null without one. */
export function sameColour(model: Model, link: number): string | null {
  const [one, two] = [model.labels[model.source[link]!], model.labels[model.target[link]!]];
  return one === two && one !== "" ? model.colours[model.source[link]!]! : null;
}
