// Requests as values: shortest form, equality and changes.
import type { NetworkRequest } from "./types";

/**
 * A request without empty fields.
 *
 * The server's own shortest request (`request` of a network) also leaves out defaults.
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

/** The change that turns one request into another; fields that the other lacks become undefined. */
export function withoutWords(now: NetworkRequest, wanted: NetworkRequest): Partial<NetworkRequest> {
  return { ...Object.fromEntries(Object.keys(now).map((word) => [word, undefined])), ...wanted };
}

/** The fields of a request that describe the view. */
export function viewOf({ where, roll_up, between, kind }: NetworkRequest): Pick<NetworkRequest, "where" | "roll_up" | "between" | "kind"> {
  return Object.fromEntries(Object.entries({ where, roll_up, between, kind }).filter(([, value]) => !saysNothing(value)));
}

const SMALL = 6;
export const NEAR_FEW = 15;

const few = (query: readonly unknown[]): boolean => query.length > 0 && query.length < SMALL;

/** Whether the number of neighbours is the default of a small query. */
export const isNearOfFew = (request: NetworkRequest): boolean => few(request.query) && request.n_neighbors === NEAR_FEW;

/**
 * The change of `n_neighbors` for a new query: 15 if it became small and no number was set, automatic again if it became
 * large. A query that was small before keeps its setting, because the user may have reset it.
 */
export function nearOf(before: NetworkRequest, query: readonly unknown[]): Partial<NetworkRequest> {
  if (few(query) && !few(before.query) && (before.n_neighbors ?? null) === null && ["", "hybrid"].includes(before.form ?? "") && !before.method) return { n_neighbors: NEAR_FEW };
  return !few(query) && isNearOfFew(before) ? { n_neighbors: null } : {};
}
