import assert from "node:assert/strict";
import { test } from "node:test";
import { backTo, fullest, brief, cellOf, drilled, firstState, isFull, strength, withAxis } from "./pivot_state";
import type { DimensionSchema } from "./types";

const dimension = (name: string, time: boolean, ...levels: [string, number][]): DimensionSchema => ({ name, time, levels: levels.map(([level, labels]) => ({ name: level, labels })) });
const dimensions = [dimension("year", true, ["year", 11], ["decade", 2]), dimension("venue", false, ["venue", 442], ["kind", 3]), dimension("topic", false, ["topic", 104])];
const first = firstState(dimensions)!;

test("times are shown across, and the dimension with most to see down", () => {
  assert.deepEqual([first.rows, first.columns], ["topic", "year"]);
  assert.equal(firstState(dimensions.slice(0, 1)), null);
});

test("a dimension crossed with itself turns the table", () => {
  const turned = withAxis(first, dimensions, "rows", "decade");
  assert.deepEqual([turned.rows, turned.columns], ["decade", "topic"]);
});

test("a click on a label looks one level finer inside it", () => {
  const state = { ...first, rows: "kind" };
  const next = drilled(state, dimensions, [{ axis: "rows", label: "workshop", finer: "venue" }]);
  assert.deepEqual([next.rows, next.where], ["venue", { kind: "workshop" }]);
  assert.deepEqual(cellOf(next, dimensions), ["∗", "workshop", "∗"]);
});

test("a finer label takes the place of the coarser one of its dimension", () => {
  const state = { ...first, rows: "venue", where: { kind: "workshop" } };
  const next = drilled(state, dimensions, [{ axis: "rows", label: "WMT", finer: null }]);
  assert.deepEqual(next.where, { venue: "WMT" });
  assert.equal(next.rows, "topic");
});

test("steps down to a cell of the cube end at one that can be pinned", () => {
  const one = drilled({ ...first, rows: "venue" }, dimensions, [
    { axis: "rows", label: "WMT", finer: null },
    { axis: "columns", label: "2021", finer: null },
  ]);
  assert.ok(!isFull(one, dimensions));
  const axis = one.rows === "topic" ? "rows" : "columns";
  const two = drilled(one, dimensions, [{ axis, label: "back translation", finer: null }]);
  assert.ok(isFull(two, dimensions));
  assert.deepEqual(cellOf(two, dimensions), ["2021", "WMT", "back translation"]);
});

test("the way back names what is new, not what was narrowed before", () => {
  const state = { ...first, rows: "kind", where: { year: "2017" } };
  const next = drilled(state, dimensions, [
    { axis: "rows", label: "workshop", finer: "venue" },
    { axis: "columns", label: "2017", finer: null },
  ]);
  assert.deepEqual(next.trail.map(({ step }) => step), ["workshop"]);
});

test("the way back leads to every state before", () => {
  const one = drilled({ ...first, rows: "kind" }, dimensions, [{ axis: "rows", label: "workshop", finer: "venue" }]);
  const two = drilled(one, dimensions, [{ axis: "columns", label: "2021", finer: null }]);
  assert.deepEqual(two.trail.map(({ step }) => step), ["workshop", "2021"]);
  assert.equal(backTo(two, 1), one);
  assert.equal(backTo(two, 0).rows, "kind");
  assert.equal(backTo(two, 9), two);
});

test("small counts are seen beside large ones, and none at all has no colour", () => {
  assert.equal(strength(0, 100), 0);
  assert.equal(strength(100, 100), 1);
  assert.ok(strength(1, 100) > 0.15);
});

test("large numbers fit a small cell", () => {
  assert.deepEqual([7, 9999, 12_345, 2_500_000, 31_000_000].map(brief), ["7", "9999", "12k", "2.5M", "31M"]);
});

test("where most of the query is, is said in one plain sentence", () => {
  const answer = { rows: ["2017", "2018"], columns: ["conference", "journal"], objects: [[10, 40], [5, 1]], query: [[3, 1], [0, 2]] };
  assert.equal(fullest(answer, 3), "2017 · conference has most of your objects: 3 of 3.");
  assert.equal(fullest({ ...answer, query: [] }, 0), "2017 · journal is the largest, with 40 objects.");
  assert.equal(fullest({ ...answer, query: [[0, 0], [0, 0]] }, 3), "None of your objects is here.");
});
