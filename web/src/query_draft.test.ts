import assert from "node:assert/strict";
import test from "node:test";
import { Draft, named, type Entry } from "./query_draft";

const unknown = (given: string, state: "ambiguous" | "missing"): Entry => ({ given, state, id: null, name: "", label: "", candidates: [] });
const ann = () => named("p1", "Ann");
const called = (id: string | number): string => `called ${id}`;

test("an object is in the query once, however often it is given", () => {
  const draft = new Draft();
  draft.add([ann(), { ...ann(), state: "repeated" }, named(2, "Bob")]);
  draft.add([named("2", "Bob")]);
  assert.deepEqual(draft.question, { query: ["p1", 2], labels: null });
});

test("one label is enough for all to have one", () => {
  const draft = new Draft();
  draft.add([ann(), { ...named("p2", "Bob"), label: "x" }]);
  assert.deepEqual(draft.question.labels, ["", "x"]);
});

test("a name that is chosen means its object, and goes where that is there already", () => {
  const draft = new Draft();
  draft.add([ann(), unknown("An", "missing"), unknown("Smith", "ambiguous")]);
  const [an, smith] = draft.unsure as [Entry, Entry];
  draft.choose(an, { id: "p1", name: "Ann", kind: "", about: "" });
  assert.equal(draft.size, 2);
  draft.choose(smith, { id: "p9", name: "Smith", kind: "", about: "" });
  assert.deepEqual(draft.question.query, ["p1", "p9"]);
});

test("a question that comes from elsewhere takes the place of the objects, and names that mean nobody stay", () => {
  const draft = new Draft();
  draft.add([ann(), unknown("Smith", "ambiguous")]);
  draft.follow({ query: ["p3"], labels: ["x"] }, called);
  assert.ok(draft.isQueryOf({ query: ["p3"], labels: ["x"] }));
  assert.deepEqual(draft.sure.map(({ name }) => name), ["called p3"]);
  assert.equal(draft.unsure.length, 1);
  draft.dropUnsure();
  assert.equal(draft.size, 1);
  assert.equal(draft.rename(called), false);
  assert.equal(draft.rename(() => "Cid"), true);
});
