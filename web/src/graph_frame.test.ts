import assert from "node:assert/strict";
import { test } from "node:test";
import { between, boxOf, PADDING, stretchOf, unitOf } from "./graph_frame";

const stage = { width: 400 + 2 * PADDING, height: 200 + 2 * PADDING };

test("the box of a layout holds every place, and that of none is the unit square", () => {
  assert.deepEqual(boxOf(Float64Array.of(1, -2, 3), Float64Array.of(0, 5, 4)), { x: [-2, 3], y: [0, 5] });
  assert.deepEqual(boxOf(new Float64Array(0), new Float64Array(0)), { x: [0, 1], y: [0, 1] });
});

test("a unit is as many pixels as the narrower side allows", () => {
  assert.equal(unitOf({ x: [0, 1], y: [0, 1] }, stage), 200);
  assert.equal(unitOf({ x: [0, 8], y: [0, 1] }, stage), 50);
});

test("a layout is stretched along one axis, and never by more than 1.6", () => {
  assert.deepEqual(stretchOf({ x: [0, 3], y: [0, 2] }, stage), [4 / 3, 1]);
  assert.deepEqual(stretchOf({ x: [0, 1], y: [0, 9] }, stage), [1.6, 1]);
  assert.deepEqual(stretchOf({ x: [0, 9], y: [0, 1] }, stage), [1, 1.6]);
  assert.deepEqual(stretchOf({ x: [0, 0], y: [0, 1] }, stage), [1, 1]);
  assert.deepEqual(stretchOf({ x: [0, 1], y: [0, 1] }, { width: 10, height: 10 }), [1, 1]);
});

test("between two ranges is a part of the way from one to the other", () => {
  assert.deepEqual(between([0, 10], [10, 30], 0.5), [5, 20]);
});
