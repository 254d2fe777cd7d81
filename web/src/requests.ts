// Questions as values: the shortest words for one, and what makes one another.
import type { NetworkRequest } from "./types";

/**
 * A request without words that say nothing.
 *
 * The server's own shortest request also leaves out what is so anyway, as method greedy; that is the network's `request`.
 */
export function shortest(request: NetworkRequest): NetworkRequest {
  const said = Object.entries(request).filter(([, value]) => !saysNothing(value));
  return { query: [], ...Object.fromEntries(said) };
}

function saysNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

export const same = (one: unknown, other: unknown): boolean => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sorted(v)]));
}

/** A change that makes one request another: what the other lacks is unsaid. */
export function withoutWords(now: NetworkRequest, wanted: NetworkRequest): Partial<NetworkRequest> {
  return { ...Object.fromEntries(Object.keys(now).map((word) => [word, undefined])), ...wanted };
}

/** What a request says of the part of the cube. */
export function viewOf({ where, roll_up, between, kind }: NetworkRequest): Pick<NetworkRequest, "where" | "roll_up" | "between" | "kind"> {
  return Object.fromEntries(Object.entries({ where, roll_up, between, kind }).filter(([, value]) => !saysNothing(value)));
}

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
