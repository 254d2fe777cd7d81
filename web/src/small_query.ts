// A query of a few objects: without a word it brings as many near ones as it has, which shows little; more are asked for.
import type { NetworkRequest } from "./types";

const SMALL = 6;
export const NEAR_FEW = 15;

const few = (query: readonly unknown[]): boolean => query.length > 0 && query.length < SMALL;

/** Whether the neighbours asked for are those of a small query. */
export const isNearOfFew = (request: NetworkRequest): boolean => few(request.query) && request.n_neighbors === NEAR_FEW;

/**
 * What a new query says of `n_neighbors`: 15 where it has become small and nobody said a number, and nothing any more where it
 * is large again. Who was small before keeps what is said, for that may have been taken back by hand.
 */
export function nearOf(before: NetworkRequest, query: readonly unknown[]): Partial<NetworkRequest> {
  if (few(query) && !few(before.query) && (before.n_neighbors ?? null) === null && ["", "hybrid"].includes(before.form ?? "") && !before.method) return { n_neighbors: NEAR_FEW };
  return !few(query) && isNearOfFew(before) ? { n_neighbors: null } : {};
}
