// The labels of a level, asked for once.
import type { Store } from "./state";

const MOST = 1000;
const known = new WeakMap<Store, Map<string, Promise<string[]>>>();

/** The labels of a level in its order, the largest thousand of them. */
export function labelsOf(store: Store, level: string): Promise<string[]> {
  const mine = known.get(store) ?? new Map<string, Promise<string[]>>();
  known.set(store, mine);
  const asked = mine.get(level) ?? ask(store, level);
  mine.set(level, asked);
  asked.catch(() => mine.delete(level));
  return asked;
}

async function ask(store: Store, level: string): Promise<string[]> {
  const other = store.cube.dimensions.find((dimension) => dimension.levels.every(({ name }) => name !== level));
  if (!other) return [];
  const columns = other.levels[other.levels.length - 1]?.name ?? other.name;
  return (await store.client.ask("pivot", { rows: level, columns, most: MOST })).rows;
}
