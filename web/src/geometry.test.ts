import assert from "node:assert/strict";
import { test } from "node:test";
import { fittingNames, insidePolygon, shortName, type Candidate } from "./geometry";

const square = [{ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 10, y: 10 }, { x: 0, y: 10 }];
const horseshoe = [{ x: 0, y: 0 }, { x: 9, y: 0 }, { x: 9, y: 9 }, { x: 6, y: 9 }, { x: 6, y: 3 }, { x: 3, y: 3 }, { x: 3, y: 9 }, { x: 0, y: 9 }];

test("a lasso holds what is inside it and not what lies between its arms", () => {
  assert.ok(insidePolygon({ x: 5, y: 5 }, square));
  assert.ok(!insidePolygon({ x: 11, y: 5 }, square));
  assert.ok(insidePolygon({ x: 1, y: 8 }, horseshoe));
  assert.ok(!insidePolygon({ x: 4.5, y: 8 }, horseshoe));
  assert.ok(!insidePolygon({ x: 1, y: 1 }, []));
});

const stage = { width: 400, height: 300 };
const at = (position: number, x: number, y: number, more: Partial<Candidate> = {}): Candidate => ({ position, x, y, width: 80, height: 14, gap: 6, ...more });

test("no two names touch, and those that come first stay", () => {
  const crowd = Array.from({ length: 200 }, (_, position) => at(position, 20 + ((position * 37) % 360), 10 + ((position * 91) % 280)));
  const named = fittingNames(crowd, stage, 500);
  assert.equal(named[0]!.position, 0);
  assert.ok(named.length > 20 && named.length < 200);
  named.forEach((one, place) =>
    named.slice(0, place).forEach((two) => {
      const apart = one.left + one.width <= two.left || two.left + two.width <= one.left || Math.abs(one.middle - two.middle) >= 14;
      assert.ok(apart, `${one.position} touches ${two.position}`);
    }),
  );
});

test("a name stands to the right of its node, or to the left at the edge", () => {
  const [middle, edge] = fittingNames([at(0, 200, 100), at(1, 390, 200)], stage, 9);
  assert.equal(middle!.left, 206);
  assert.equal(edge!.left, 390 - 6 - 80);
});

test("names give way to obstacles, but for important ones", () => {
  const wall = [{ left: 0, top: 0, right: 400, bottom: 300 }];
  assert.equal(fittingNames([at(0, 200, 100)], stage, 9, wall).length, 0);
  assert.equal(fittingNames([at(0, 200, 100, { important: true })], stage, 9, wall).length, 1);
});

test("no name covers what is to be kept clear, not even an important one", () => {
  const wall = [{ left: 0, top: 0, right: 400, bottom: 300 }];
  assert.equal(fittingNames([at(0, 200, 100, { important: true })], stage, 9, [], wall).length, 0);
  const right = [{ left: 201, top: 95, right: 400, bottom: 105 }];
  assert.ok(fittingNames([at(0, 200, 100, { important: true })], stage, 9, [], right)[0]!.left < 200);
});

test("no more names are shown than wanted", () => {
  assert.equal(fittingNames([at(0, 50, 50), at(1, 50, 150), at(2, 50, 250)], stage, 2).length, 2);
});

test("a hostile name becomes one short line", () => {
  assert.equal(shortName("line\nbreak\u202E and\u200B more"), "line break and more");
  assert.equal(Array.from(shortName("😀".repeat(5000), 10)).length, 10);
  assert.equal(shortName("x".repeat(10_000), 5), "xxxx…");
  assert.equal(shortName("\u200B \u2028"), "(no name)");
  assert.equal(shortName(""), "");
  assert.equal(shortName("<b>bold</b>"), "<b>bold</b>");
});
