// Cells and objects as values: their keys, titles, and lists of them.
import type { Id, NetworkAnswer, Node } from "./types";

/** The title of a cell: its labels without ∗. */
export function cellTitle(labels: readonly string[]): string {
  const said = labels.filter((label) => label !== "∗");
  return said.length === 0 ? "all" : said.join(" · ");
}

export function nodeKey(node: Node): string {
  return "cell" in node ? `c${JSON.stringify(node.cell)}` : `o${JSON.stringify(node.object)}`;
}

export const sameNode = (one: Node | null, other: Node | null): boolean =>
  one === null || other === null ? one === other : nodeKey(one) === nodeKey(other);

export const lacking = (nodes: Node[] = [], node: Node): Node[] => nodes.filter((other) => !sameNode(node, other));

export function toggled(nodes: Node[] = [], node: Node): Node[] {
  const rest = lacking(nodes, node);
  return rest.length < nodes.length ? rest : [...nodes, node];
}

/** The key of a network's node by its position: the same in every network of the same cube. */
export function keyAt(network: NetworkAnswer, position: number): string {
  return nodeKey(nodeAt(network, position));
}

/** The title of a network's node by its position; cells without ∗. */
export function titleAt({ nodes }: NetworkAnswer, position: number): string {
  const labels = nodes.labels[position];
  return labels ? cellTitle(labels) : nodes.name[position]!;
}

export function nodeAt(network: NetworkAnswer, position: number): Node {
  const labels = network.nodes.labels[position];
  return labels ? { cell: labels } : { object: network.nodes.id[position] as Id };
}
