// Positions of nodes, and initial positions for the next network.
import { keyAt } from "./nodes";
import type { NetworkAnswer } from "./types";

export type Place = readonly [number, number];

/** Positions of nodes in the previous network; new nodes start between their neighbours. */
export function carried(before: NetworkAnswer | null, places: Place[] | null, network: NetworkAnswer): Place[] | null {
  if (!before || !places) return null;
  const old = new Map(places.map((place, position) => [keyAt(before, position), place]));
  const known = network.nodes.id.map((_, position) => old.get(keyAt(network, position)) ?? null);
  const sums = network.nodes.id.map(() => [0, 0, 0] as [number, number, number]);
  const meet = (one: number, other: number): void => {
    const place = known[other];
    const sum = sums[one];
    if (!place || !sum) return;
    sum[0] += place[0];
    sum[1] += place[1];
    sum[2] += 1;
  };
  network.links.source.forEach((source, link) => {
    const target = network.links.target[link] as number;
    meet(source, target);
    meet(target, source);
  });
  return known.map((place, position) => {
    const [x, y, n] = sums[position] as [number, number, number];
    return place ?? (n > 0 ? [x / n, y / n] : [0, 0]);
  });
}
