import assert from "node:assert/strict";
import { test } from "node:test";
import { circleOf, drawnLinks, modelOf, namingOrder, neighboursOf, radiusOf, SIMPLER } from "./graph_model";
import { sortedNodes } from "./graph_table";
import type { NetworkAnswer, Role } from "./types";

/** A network by hand: roles of its nodes, and links between positions. */
function networkOf(roles: Role[], links: [number, number, number][]): NetworkAnswer {
  return {
    nodes: {
      id: roles.map((_, at) => `n${at}`),
      name: roles.map((_, at) => `Name ${at}`),
      kind: roles.map(() => ""),
      role: roles,
      label: roles.map((role) => (role === "query" ? "a" : "")),
      query_links: roles.map(() => 0),
      cells: roles.map(() => []),
      labels: roles.map((role, at) => (role === "cell" ? ["x", String(at)] : null)),
    },
    links: { source: links.map(([one]) => one), target: links.map(([, two]) => two), weight: links.map(([, , weight]) => weight) },
    cells: [],
  } as unknown as NetworkAnswer;
}

const small = networkOf(["query", "query", "neighbor", "cell"], [[0, 1, 2], [0, 2, 1], [1, 3, 5]]);

test("every node knows its neighbours, whichever end of a link it is", () => {
  const { starts, ends } = neighboursOf(4, [0, 0, 1], [1, 2, 3]);
  const of = (at: number): number[] => [...ends.subarray(starts[at]!, starts[at + 1]!)];
  assert.deepEqual([0, 1, 2, 3].map(of), [[1, 2], [0, 3], [0], [1]]);
});

test("a small network draws all of its links", () => {
  assert.deepEqual([...modelOf(small, "light").drawn], [0, 1, 2]);
});

test("a large network draws the links inside the query only, the heaviest where they are many", () => {
  assert.deepEqual([...drawnLinks(small, true)], [0]);
  const dense = networkOf(["query", "query", "query"], [[0, 1, 1], [1, 2, 9], [0, 2, 4]]);
  assert.deepEqual([...drawnLinks(dense, true, 2)], [1, 2]);
  assert.ok(modelOf(networkOf(Array<Role>(SIMPLER + 1).fill("neighbor"), []), "light").simple);
});

test("the query is named first, then cells, then neighbours, the hubs of each in front", () => {
  const roles: Role[] = ["neighbor", "query", "query", "cell", "cell", "brought"];
  const order = [...namingOrder(roles, Uint32Array.from([99, 1, 5, 2, 8, 50]))];
  assert.deepEqual(order, [2, 1, 4, 3, 0, 5]);
});

test("the circle of a node is itself and its neighbours", () => {
  assert.deepEqual(circleOf(modelOf(small, "dark"), 1), [1, 0, 3]);
});

test("cells and objects that have the same name are told apart", () => {
  const { positions, keys } = modelOf(small, "light");
  assert.equal(positions.size, 4);
  assert.equal(positions.get(keys[3]!), 3);
});

test("nodes of the query are larger than others, hubs larger than leaves, and none too small to point at", () => {
  assert.ok(radiusOf("query", 3, 20) > radiusOf("neighbor", 3, 20));
  assert.ok(radiusOf("query", 90, 20) > radiusOf("query", 1, 20));
  assert.ok(radiusOf("neighbor", 0, 0.01) >= 1.2);
});

test("the table of nodes is sorted by any column, and equal ones keep their order", () => {
  const { degrees } = modelOf(small, "light");
  assert.deepEqual(sortedNodes(small, degrees, "links", true), [0, 1, 2, 3]);
  assert.deepEqual(sortedNodes(small, degrees, "role", false), [3, 2, 0, 1]);
});
