import assert from "node:assert/strict";
import test from "node:test";
import { readHash, followAddress, hashOf, packed, readRequest, unpacked } from "./address";
import { Store } from "./state";
import type { Client } from "./client";
import type { NetworkRequest, CubeAnswer } from "./types";

const ASK: NetworkRequest = { query: ["ада", 7], labels: ["a", ""], n_cells: 12, pins: [{ cell: ["∗", "ACL"] }], between: "2015..2019" };

test("a request survives its address", async () => {
  assert.deepEqual(await readHash(await hashOf(ASK, "abc")), { ...ASK, cube: "abc" });
});

test("words that say nothing are not in the address", async () => {
  assert.deepEqual(await unpacked(await packed({ ...ASK, bans: [], method: "", n_neighbors: null }, null)), ASK);
});

test("the same request has the same address", async () => {
  assert.equal(await packed(ASK, "abc"), await packed({ ...ASK }, "abc"));
});

test("twenty thousand objects fit into an address", async () => {
  const query = Array.from({ length: 20_000 }, (_, n) => `author-${n}`);
  assert.deepEqual((await unpacked(await packed({ query }, null))).query, query);
});

test("an empty request has no address", async () => {
  assert.equal(await hashOf({ query: [] }, "abc"), "");
  assert.equal(await readHash(""), null);
  assert.equal(await readHash("#elsewhere"), null);
});

test("an address that was cut off is refused in a sentence", async () => {
  const word = await packed(ASK, "abc");
  await assert.rejects(unpacked(word.slice(0, word.length / 2)), /cut off when it was copied/);
  await assert.rejects(unpacked("AAAA"), /cut off when it was copied/);
});

test("an address that unpacks to more than any request is refused", async () => {
  const word = await packed({ query: ["x".repeat(17 * 1024 * 1024)] }, null);
  assert.ok(word.length < 100_000);
  await assert.rejects(unpacked(word), /no request that can be read/);
});

test("a field that nobody knows and one of the wrong kind are named", () => {
  assert.throws(() => readRequest({ query: ["a"], exec: "rm" }), /asks for 'exec'/);
  assert.throws(() => readRequest({ query: ["a"], constructor: "x" }), /asks for 'constructor'/);
  assert.throws(() => readRequest({ query: ["a"], n_cells: "12" }), /'n_cells' of the wrong kind/);
  assert.throws(() => readRequest({ query: ["a"], pins: [{ cell: "x" }] }), /'pins' of the wrong kind/);
  assert.throws(() => readRequest({ n_cells: 12 }), /names no objects/);
  assert.throws(() => readRequest(null), /names no objects/);
});

/** A browser's history with one page, and how often its address was written. */
function fakeBrowser(hash = "") {
  const pages: { state: unknown; hash: string }[] = [{ state: null, hash }];
  const counts = { pushState: 0, replaceState: 0 };
  let now = 0;
  const listeners: (() => void)[] = [];
  const go = (step: number) => {
    now += step;
    for (const listener of listeners) listener();
  };
  const write = (state: unknown, address: string) => ({ state, hash: address.slice(1) });
  Object.assign(globalThis, {
    addEventListener: (_: string, listener: () => void) => listeners.push(listener),
    location: { pathname: "/", search: "", get hash() { return pages[now]!.hash; } },
    history: {
      get state() { return pages[now]!.state; },
      pushState(state: unknown, _: string, address: string) {
        counts.pushState += 1;
        pages.splice(now + 1, Infinity, write(state, address));
        now += 1;
      },
      replaceState(state: unknown, _: string, address: string) {
        counts.replaceState += 1;
        pages[now] = write(state, address);
      },
      back: () => go(-1),
      forward: () => go(1),
    },
  });
  return { pages, counts, asks: () => Promise.all(pages.map((page) => readHash(page.hash))) };
}

const answered = { ask: (name: string, { request }: { request: NetworkRequest }) => Promise.resolve(name === "layout" ? { places: [] } : { request, nodes: { id: [], name: [], labels: [] }, links: { source: [], target: [], weight: [] }, prices: [] }) } as unknown as Client;
const cubeOf = (checksum: string) => ({ checksum }) as unknown as CubeAnswer;

/** Waits, turn by turn, until something is so. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test("every settled move is a page of the history, and a slide is one, written when it rests", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const browser = fakeBrowser();
  const store = new Store(answered, cubeOf("abc"));
  await followAddress(store);
  await store.move({ query: ["a"] });
  for (let m = 1; m <= 30; m++) await store.move({ n_cells: m }, { settled: false });
  await store.move({ n_cells: 31 });
  await until(() => browser.counts.replaceState === 1);
  const cube = "abc";
  assert.deepEqual(await browser.asks(), [null, { query: ["a"], cube }, { query: ["a"], n_cells: 31, cube }]);
  assert.deepEqual(browser.counts, { pushState: 2, replaceState: 1 });
  store.trail.back();
  await until(() => store.request.n_cells === undefined);
  assert.deepEqual(store.request, { query: ["a"] });
  assert.ok(store.trail.canGoForward && store.trail.canGoBack);
  store.trail.forward();
  await until(() => store.request.n_cells !== undefined);
  assert.deepEqual(store.request, { query: ["a"], n_cells: 31 });
  assert.deepEqual(browser.counts, { pushState: 2, replaceState: 1 });
});

test("of two steps back the one made last counts, however long the first takes to read", async () => {
  const browser = fakeBrowser();
  const store = new Store(answered, cubeOf("abc"));
  await followAddress(store);
  const many = Array.from({ length: 60_000 }, (_, n) => `author-${(n * 7919) % 60_013}`);
  for (const query of [["a"], many, ["c"]]) await store.move({ query });
  await until(() => browser.counts.pushState === 3);
  const arrived: number[] = [];
  store.subscribe((changed) => changed.has("request") && arrived.push(store.request.query.length));
  history.back();
  history.back();
  await until(() => store.request.query.length === 1 && store.request.query[0] === "a");
  await unpacked(await packed({ query: many }, null));
  assert.deepEqual([store.request, arrived], [{ query: ["a"] }, [1]]);
});

test("an address of another cube is refused and one that a browser refuses to write stops nothing", async () => {
  fakeBrowser(await hashOf({ query: ["a"] }, "other"));
  const store = new Store(answered, cubeOf("abc"));
  await followAddress(store);
  assert.match(store.error?.refusal.sentence ?? "", /made with another cube/);
  let refused = 0;
  globalThis.history.pushState = () => {
    refused += 1;
    throw new Error("too many");
  };
  await store.move({ query: ["b"] });
  await store.move({ query: ["c"] });
  await until(() => refused === 2);
  assert.equal(store.phase, "ready");
});

test("an address that holds no request is told, whatever signs it has", async () => {
  for (const mark of ["#q=garbage", "#q=gar%20bage", "#q=", "#q=ä!"]) await assert.rejects(readHash(mark), /address/, mark);
  assert.equal(await readHash(""), null);
  assert.equal(await readHash("#elsewhere"), null);
});

test("names that came with an address are handed over, and are no part of its question", async () => {
  const unresolved: [string, string][] = [["Dora Bakr", "y"]];
  fakeBrowser(await hashOf({ query: ["a"], unresolved } as NetworkRequest, "abc"));
  const store = new Store(answered, cubeOf("abc"));
  await followAddress(store);
  assert.deepEqual([store.request, store.given], [{ query: ["a"] }, unresolved]);
  await assert.rejects(unpacked(await packed({ query: ["a"], unresolved: ["x"] } as NetworkRequest, null)), /'unresolved' of the wrong kind/);
});
