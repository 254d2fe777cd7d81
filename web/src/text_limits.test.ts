import assert from "node:assert/strict";
import test from "node:test";
import { tooLarge, tooLong } from "./text_limits";
import type { LimitsSchema } from "./types";

const limits = { letters: 10, bytes: 60 } as LimitsSchema;

test("a text of as many letters as are taken fits, and one more is said with both numbers", () => {
  assert.equal(tooLong("this list", "x".repeat(10), limits), null);
  assert.equal(tooLong("this list", "x".repeat(11), limits), "this list has 11 letters; at most 10 are accepted at once");
});

test("a sign of two halves is one letter, as the server counts", () => {
  assert.equal(tooLong("this list", "🦉".repeat(10), limits), null);
});

test("a text of few letters may have too many bytes", () => {
  assert.equal(tooLong("q.csv", "🦉".repeat(10), { ...limits, bytes: 40 }), "q.csv has 51 bytes as it is sent; at most 40 are accepted at once");
});

test("a file is refused unread where no text of its size could fit", () => {
  assert.equal(tooLarge("q.csv", 40, { ...limits, file: 40 }), null);
  assert.equal(tooLarge("q.csv", 41, { ...limits, file: 40 }), "q.csv has 41 bytes; a file of names has at most 40");
});
