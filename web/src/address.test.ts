import assert from "node:assert/strict";
import test from "node:test";
import { askOfHash, hashOf, packed, readAsk, unpacked } from "./address";
import type { Ask } from "./types";

const ASK: Ask = { query: ["ада", 7], labels: ["a", ""], m: 12, pins: [{ cell: ["∗", "ACL"] }], between: "2015..2019" };

test("a question survives its address", async () => {
  assert.deepEqual(await askOfHash(await hashOf(ASK, "abc")), { ...ASK, cube: "abc" });
});

test("words that say nothing are not in the address", async () => {
  assert.deepEqual(await unpacked(await packed({ ...ASK, bans: [], method: "", near: null }, null)), ASK);
});

test("the same question has the same address", async () => {
  assert.equal(await packed(ASK, "abc"), await packed({ ...ASK }, "abc"));
});

test("twenty thousand objects fit into an address", async () => {
  const query = Array.from({ length: 20_000 }, (_, n) => `author-${n}`);
  assert.deepEqual((await unpacked(await packed({ query }, null))).query, query);
});

test("an empty question has no address", async () => {
  assert.equal(await hashOf({ query: [] }, "abc"), "");
  assert.equal(await askOfHash(""), null);
  assert.equal(await askOfHash("#elsewhere"), null);
});

test("an address that was cut off is refused in a sentence", async () => {
  const word = await packed(ASK, "abc");
  await assert.rejects(unpacked(word.slice(0, word.length / 2)), /cut off when it was copied/);
  await assert.rejects(unpacked("AAAA"), /cut off when it was copied/);
});

test("an address that unpacks to more than any question is refused", async () => {
  const word = await packed({ query: ["x".repeat(17 * 1024 * 1024)] }, null);
  assert.ok(word.length < 100_000);
  await assert.rejects(unpacked(word), /no question that can be read/);
});

test("a field that nobody knows and one of the wrong kind are named", () => {
  assert.throws(() => readAsk({ query: ["a"], exec: "rm" }), /asks for 'exec'/);
  assert.throws(() => readAsk({ query: ["a"], constructor: "x" }), /asks for 'constructor'/);
  assert.throws(() => readAsk({ query: ["a"], m: "12" }), /'m' of the wrong kind/);
  assert.throws(() => readAsk({ query: ["a"], pins: [{ cell: "x" }] }), /'pins' of the wrong kind/);
  assert.throws(() => readAsk({ m: 12 }), /names no objects/);
  assert.throws(() => readAsk(null), /names no objects/);
});
