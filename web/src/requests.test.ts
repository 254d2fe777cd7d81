import assert from "node:assert/strict";
import test from "node:test";
import { isNearOfFew, nearOf } from "./requests";

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `o${at}`);

test("a query of fewer than six asks for fifteen neighbours, and no other does", () => {
  assert.deepEqual(nearOf({ query: [] }, ids(1)), { n_neighbors: 15 });
  assert.deepEqual(nearOf({ query: ids(9) }, ids(5)), { n_neighbors: 15 });
  assert.deepEqual(nearOf({ query: [] }, ids(6)), {});
  assert.deepEqual(nearOf({ query: ids(5), n_neighbors: 15 }, ids(6)), { n_neighbors: null });
});

test("what somebody said of neighbours stays", () => {
  assert.deepEqual(nearOf({ query: [], n_neighbors: 3 }, ids(2)), {});
  assert.deepEqual(nearOf({ query: ids(2) }, ids(3)), {}, "it was taken back by hand");
  assert.deepEqual(nearOf({ query: ids(2), n_neighbors: 4 }, ids(9)), {});
  assert.deepEqual(nearOf({ query: [], form: "cells" }, ids(2)), {});
  assert.deepEqual(nearOf({ query: [], method: "pagerank" }, ids(2)), {});
  assert.ok(isNearOfFew({ query: ids(2), n_neighbors: 15 }) && !isNearOfFew({ query: ids(20), n_neighbors: 15 }));
});
