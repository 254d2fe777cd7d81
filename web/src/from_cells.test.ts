import assert from "node:assert/strict";
import test from "node:test";
import { cellsNamed, levelsOf } from "./from_cells";
import type { DimensionSchema } from "./types";

const level = (name: string) => ({ name, labels: 1, first: ["x"] });
const YEAR: DimensionSchema = { name: "year", time: true, levels: [level("year"), level("decades")] };

test("a dimension that is rolled up offers the labels that its cells have then", () => {
  assert.deepEqual(levelsOf(YEAR, undefined).map(({ name }) => name), ["year", "decades"]);
  assert.deepEqual(levelsOf(YEAR, "decades").map(({ name }) => name), ["decades"]);
  assert.deepEqual(levelsOf(YEAR, "∗"), []);
});

test("a cell counts once, and one without a label is none", () => {
  assert.deepEqual(cellsNamed([["a", "∗"], ["∗", "∗"], ["∗", "b"], ["a", "∗"]]), [["a", "∗"], ["∗", "b"]]);
});
