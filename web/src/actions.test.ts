import assert from "node:assert/strict";
import { test } from "node:test";
import { addedChange, preferredChange, manyChange, removedChange } from "./actions";
import { pValueText, sidesOf } from "./contrast";
import type { NetworkRequest } from "./types";

const request: NetworkRequest = { query: ["a", "b", "c"], labels: ["x", "y", "x"], prefer: ["n"], bans: [{ object: "p" }] };

test("preferring twice ends preferring", () => {
  assert.deepEqual(preferredChange(request, "m"), { prefer: ["n", "m"] });
  assert.deepEqual(preferredChange(request, "n"), { prefer: [] });
});

test("objects join and leave the query with their labels", () => {
  assert.deepEqual(addedChange(request, ["c", "d"]), { query: ["a", "b", "c", "d"], labels: ["x", "y", "x", ""] });
  assert.deepEqual(removedChange(request, "b"), { query: ["a", "c"], labels: ["x", "x"] });
  assert.deepEqual(addedChange({ query: [] }, ["d"]), { query: ["d"], labels: null });
});

test("many nodes are pinned at once, those of the query and those that are pinned left as they are", () => {
  const change = manyChange(request, [{ object: "a" }, { object: "p" }, { cell: ["1", "2"] }], "pins");
  assert.deepEqual(change, { pins: [{ object: "p" }, { cell: ["1", "2"] }], bans: [] });
});

test("a new query of chosen nodes has their objects and labels, and no pins of the old one", () => {
  const change = manyChange(request, [{ object: "a" }, { cell: ["1"] }, { object: "z" }], "query", new Map([["a", "x"]]));
  assert.deepEqual([change.query, change.labels, change.bans], [["a", "z"], ["x", ""], []]);
});

test("a query offers itself and each of its labels to be compared", () => {
  assert.deepEqual(sidesOf(request).map(({ name, ids }) => [name, ids.length]), [["the query", 3], ["x", 2], ["y", 1]]);
  assert.equal(sidesOf({ query: ["a"], labels: ["x"] }).length, 1);
});

test("a small p-value is significant", () => {
  assert.deepEqual([0.0004, 0.0431].map(pValueText), ["significant (p\u00a0<\u00a00.001)", "significant (p\u00a0=\u00a00.043)"]);
});
