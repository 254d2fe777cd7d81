import assert from "node:assert/strict";
import test from "node:test";
import type { Asking, Client } from "./client";
import { Refusal } from "./client";
import { shortest } from "./requests";
import { carried } from "./places";
import { Store } from "./state";
import type { NetworkRequest, CubeAnswer, NetworkAnswer } from "./types";

const CUBE = { name: "toy", checksum: null } as unknown as CubeAnswer;

function networkOf(request: NetworkRequest, links: [number, number][] = []): NetworkAnswer {
  return {
    request,
    fingerprint: JSON.stringify(request),
    sentence: `${request.query.length} objects`,
    nodes: { id: request.query, name: request.query.map(String), labels: request.query.map(() => null) },
    links: { source: links.map(([a]) => a), target: links.map(([, b]) => b), weight: links.map(() => 1) },
    prices: [],
  } as unknown as NetworkAnswer;
}

/** A client whose answers come when they are let go, so that a test sets the order. */
function slowClient() {
  const waiting: { name: string; body: { request: NetworkRequest; start?: unknown; prices?: boolean }; go: (error?: Error) => void }[] = [];
  const client = {
    ask(name: string, body: { request: NetworkRequest; start?: unknown }, how: Asking = {}) {
      return new Promise((resolve, reject) => {
        how.signal?.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
        const answer = name === "names" ? { rows: [] } : name === "layout" ? { places: body.request.query.map((_, n) => [n, n]) } : networkOf(body.request);
        waiting.push({ name, body, go: (error) => (error ? reject(error) : resolve(answer)) });
      });
    },
  } as unknown as Client;
  const next = async (error?: Error) => {
    const one = waiting.shift();
    assert.ok(one, "nothing was asked");
    one.go(error);
    await new Promise((resolve) => setImmediate(resolve));
    return one;
  };
  return { client, waiting, next };
}

test("a move asks for the network and then for places", async () => {
  const { client, next } = slowClient();
  const store = new Store(client, CUBE);
  assert.equal(store.phase, "empty");
  const moved = store.move({ query: ["a", "b"] });
  assert.equal(store.phase, "busy");
  assert.equal((await next()).name, "construct");
  assert.equal(store.network?.sentence, "2 objects");
  assert.equal((await next()).name, "layout");
  await moved;
  assert.equal(store.phase, "ready");
  assert.deepEqual(store.places, [[0, 0], [1, 1]]);
});

test("a later move supersedes the one in flight", async () => {
  const { client, waiting, next } = slowClient();
  const store = new Store(client, CUBE);
  const first = store.move({ query: ["a"] });
  const second = store.move({ query: ["a", "b"] });
  waiting.shift();
  await next();
  await next();
  await Promise.all([first, second]);
  assert.deepEqual(store.network?.request.query, ["a", "b"]);
  assert.equal(store.phase, "ready");
});

test("a refusal keeps the last network, and giving up goes back to its request", async () => {
  const { client, next } = slowClient();
  const store = new Store(client, CUBE);
  const first = store.move({ query: ["a"] });
  await next();
  await next();
  await first;
  const second = store.move({ n_cells: -1 });
  await next(new Refusal("n_cells is -1, expected at least 1", "QueryError"));
  await second;
  assert.equal(store.phase, "error");
  assert.equal(store.error?.refusal.sentence, "n_cells is -1, expected at least 1");
  assert.deepEqual(store.network?.request, { query: ["a"] });
  const back = store.giveUp();
  await next();
  await next();
  await back;
  assert.deepEqual(store.request, { query: ["a"] });
  assert.equal(store.phase, "ready");
});

test("prices that are refused leave a good network as it is", async (context) => {
  const warned = context.mock.method(console, "warn", () => undefined);
  const { client, next } = slowClient();
  const store = new Store(client, CUBE);
  const moved = store.move({ query: ["a"], pins: [{ cell: ["x", "∗"] }] });
  await next();
  await next();
  assert.equal((await next(new Refusal("the explorer is busy", "busy"))).body.prices, true);
  await moved;
  assert.equal(store.phase, "ready");
  assert.equal(store.error, null);
  assert.deepEqual(store.prices, []);
  assert.deepEqual(warned.mock.calls.map((call) => call.arguments), [["the explorer is busy"]]);
});

test("names that are refused leave a good network as it is, and prices still come", async (context) => {
  context.mock.method(console, "warn", () => undefined);
  const { client, waiting, next } = slowClient();
  const store = new Store(client, CUBE);
  const moved = store.move({ query: ["a"], bans: [{ object: "b" }] });
  await next();
  await next();
  assert.deepEqual(waiting.map(({ name }) => name), ["names", "construct"]);
  await next(new Refusal("the explorer is busy", "busy"));
  await next();
  await moved;
  assert.equal(store.phase, "ready");
  assert.equal(store.error, null);
});

test("a stop keeps the last network, is no error, and says which request was not answered", async () => {
  const { client, next } = slowClient();
  const store = new Store(client, CUBE);
  const first = store.move({ query: ["a"] });
  await next();
  await next();
  await first;
  const second = store.move({ n_cells: 4 });
  store.stop();
  await second;
  assert.equal(store.phase, "ready");
  assert.equal(store.error, null);
  assert.deepEqual(store.network?.request, { query: ["a"] });
  assert.deepEqual(store.halted, { query: ["a"], n_cells: 4 });
  assert.deepEqual(store.request, { query: ["a"] }, "controls show the network's request again");
  const again = store.retry();
  assert.deepEqual(store.request, { query: ["a"], n_cells: 4 });
  store.stop();
  await again;
  void store.giveUp();
  assert.deepEqual(store.request, { query: ["a"] });
  assert.equal(store.halted, null);
});

test("a slide is one step to undo", async () => {
  const { client, waiting } = slowClient();
  const store = new Store(client, CUBE);
  void store.move({ query: ["a"] });
  void store.move({ n_cells: 3 }, { settled: false });
  void store.move({ n_cells: 4 }, { settled: false });
  void store.move({ n_cells: 5 });
  store.trail.back();
  assert.deepEqual(store.request, { query: ["a"] });
  store.trail.forward();
  assert.deepEqual(store.request, { query: ["a"], n_cells: 5 });
  assert.equal(store.trail.canGoForward, false);
  waiting.length = 0;
});

test("a pin takes the place of a ban, and a second click takes it away", () => {
  const { client } = slowClient();
  const store = new Store(client, CUBE);
  void store.move({ query: ["a"] });
  const node = { cell: ["x", "∗"] };
  void store.toggleBan(node);
  assert.ok(store.isBanned({ cell: ["x", "∗"] }));
  void store.togglePin({ cell: ["x", "∗"] });
  assert.deepEqual(store.request, { query: ["a"], pins: [node] });
  void store.togglePin(node);
  assert.deepEqual(store.request, { query: ["a"] });
});

test("an empty query asks nothing and shows nothing", async () => {
  const { client, waiting } = slowClient();
  const store = new Store(client, CUBE);
  await store.move({ query: [] });
  assert.equal(waiting.length, 0);
  assert.equal(store.phase, "empty");
});

test("nodes stay where they were, and a new one begins amid its neighbours", () => {
  const before = networkOf({ query: ["a", "b"] });
  const after = networkOf({ query: ["b", "c", "a", "d"] }, [[1, 0], [1, 2]]);
  assert.deepEqual(carried(before, [[0, 0], [4, 2]], after), [[4, 2], [2, 1], [0, 0], [0, 0]]);
});

test("the shortest request leaves out what says nothing but keeps zero", () => {
  assert.deepEqual(shortest({ query: ["a"], n_neighbors: 0, labels: null, bans: [], bound: false, where: {} }), { query: ["a"], n_neighbors: 0 });
});

test("a move takes the query as it was edited meanwhile, but never one in which nobody is left", async () => {
  const { client } = slowClient();
  const store = new Store(client, CUBE);
  void store.move({ query: ["a", "b"] });
  store.edit({ query: ["a"], labels: null });
  void store.move({ n_cells: 4 });
  assert.deepEqual([store.request, store.edited], [{ query: ["a"], n_cells: 4 }, null]);
  store.edit({ query: [], labels: null });
  void store.move({ n_cells: 5 });
  assert.deepEqual(store.request, { query: ["a"], n_cells: 5 });
  assert.deepEqual(store.edited?.query, []);
  store.edit({ query: ["a"], labels: null });
  assert.equal(store.edited, null, "it is the request's again");
});

test("edits are taken back before moves are", async () => {
  const { client } = slowClient();
  const store = new Store(client, CUBE);
  void store.move({ query: ["a"] });
  let edits = 1;
  store.edits = { get canUndo() { return edits > 0; }, canRedo: false, undo: () => (edits -= 1), redo: () => undefined };
  store.undo();
  assert.deepEqual([edits, store.request.query], [0, ["a"]]);
  store.undo();
  assert.deepEqual(store.request.query, []);
  assert.ok(!store.canUndo && store.canRedo);
});
