import assert from "node:assert/strict";
import test from "node:test";
import { clearlyMeant, Draft, type Entry, named, summarizeNames } from "./query_draft";

const unknown = (given: string, state: "ambiguous" | "missing"): Entry => ({ given, state, id: null, name: "", label: "", candidates: [] });
const ann = () => named("p1", "Ann");
const called = (id: string | number): string => `called ${id}`;

test("an object is in the query once, however often it is given", () => {
  const draft = new Draft();
  draft.add([ann(), { ...ann(), state: "repeated" }, named(2, "Bob")]);
  draft.add([named("2", "Bob")]);
  assert.deepEqual(draft.edited, { query: ["p1", 2], labels: null });
});

test("one label is enough for all to have one", () => {
  const draft = new Draft();
  draft.add([ann(), { ...named("p2", "Bob"), label: "x" }]);
  assert.deepEqual(draft.edited.labels, ["", "x"]);
});

test("a name that is chosen means its object, and goes where that is there already", () => {
  const draft = new Draft();
  draft.add([ann(), unknown("An", "missing"), unknown("Smith", "ambiguous")]);
  const [an, smith] = draft.unsure as [Entry, Entry];
  draft.choose(an, { id: "p1", name: "Ann", kind: "", about: "" });
  assert.equal(draft.size, 2);
  draft.choose(smith, { id: "p9", name: "Smith", kind: "", about: "" });
  assert.deepEqual(draft.edited.query, ["p1", "p9"]);
});

test("a request that comes from elsewhere takes the place of the objects, and names that mean nobody stay", () => {
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

test("every edit is a step that can be taken back and taken again", () => {
  const draft = new Draft();
  draft.add([ann(), named("p2", "Bob"), unknown("Smith", "ambiguous")]);
  draft.settle();
  assert.ok(!draft.canUndo && !draft.canRedo);
  draft.choose(draft.unsure[0] as Entry, { id: "p9", name: "Smith", kind: "", about: "" });
  draft.drop(draft.sure[0] as Entry);
  draft.clear();
  const ids = (): unknown[] => draft.edited.query;
  assert.deepEqual(ids(), []);
  draft.undo();
  assert.deepEqual(ids(), ["p2", "p9"]);
  draft.undo();
  draft.undo();
  assert.deepEqual([ids(), draft.unsure.length, draft.canUndo], [["p1", "p2"], 1, false]);
  draft.redo();
  assert.deepEqual(ids(), ["p1", "p2", "p9"]);
  draft.add([named("p5", "Eve")]);
  assert.ok(!draft.canRedo, "a new step ends what was taken back");
});

test("a name that is chosen for an object that is there says which one that is", () => {
  const draft = new Draft();
  draft.add([{ ...ann(), label: "Edinburgh" }, { ...unknown("An", "missing"), label: "Paris" }]);
  const there = draft.choose(draft.unsure[0] as Entry, { id: "p1", name: "Ann", kind: "", about: "" });
  assert.equal(there?.label, "Edinburgh");
  assert.equal(draft.size, 1);
});

test("a query that was edited can be put back as a step", () => {
  const draft = new Draft();
  draft.follow({ query: ["p3"], labels: ["x"] }, called);
  draft.clear();
  draft.putBack({ query: ["p3"], labels: ["x"] }, called);
  assert.ok(draft.isQueryOf({ query: ["p3"], labels: ["x"] }));
  draft.undo();
  assert.equal(draft.size, 0);
});

test("all suggestions are taken in one step, nobody twice, and names that several bear stay to be chosen", () => {
  const draft = new Draft();
  const near = (id: string, name: string) => [{ id, name, kind: "", about: "" }];
  const row = (given: string, state: Entry["state"], candidates: Entry["candidates"]): Entry => ({ given, state, id: null, name: "", label: "", candidates });
  draft.add([row("An", "missing", near("p1", "Ann")), row("Anne", "missing", near("p1", "Ann")), row("Smith", "ambiguous", near("p2", "Smith")), row("Nobody", "missing", [])]);
  assert.equal(draft.suggested.length, 2);
  assert.deepEqual(draft.chooseSuggested().map(({ name }) => name), ["Ann"]);
  assert.deepEqual([draft.sure.map(({ id }) => id), draft.unsure.map(({ given }) => given)], [["p1"], ["Smith", "Nobody"]]);
  draft.undo();
  assert.equal(draft.unsure.length, 4);
});

test("all names are counted, not only the latest ones", () => {
  const draft = new Draft();
  const missing: Entry = { given: "Xy", state: "missing", id: null, name: "", label: "", candidates: [] };
  draft.add([named("a", "Ann"), named("b", "Bob")]);
  assert.equal(summarizeNames(draft, []), "2 names found");
  draft.add([missing]);
  assert.equal(summarizeNames(draft, ["1 name repeated", "2 labels"]), "2 of 3 names found; 1 name repeated; 2 labels");
});

const of = (...names: string[]) => names.map((name) => ({ id: name, name, kind: "", about: "" }));

test("of several suggestions one is taken only where it is nearer than all others", () => {
  assert.equal(clearlyMeant("Haas Maschinenbau", of("Haas Maschinenbau AG", "Haas Maschinenbau GmbH & Co. KG")), null);
  assert.equal(clearlyMeant("Ivan Vulic", of("Ivan Vladimir", "Ivan Vulić"))?.name, "Ivan Vulić");
  assert.equal(clearlyMeant("Jan Müler", of("Jan Müller", "Jan Mühler")), null);
  assert.equal(clearlyMeant("Jan", of("Jan Pflüger"))?.name, "Jan Pflüger");
  assert.equal(clearlyMeant("Jan", []), null);
});
