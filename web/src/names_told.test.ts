import assert from "node:assert/strict";
import test from "node:test";
import { toldOfAll } from "./names_told";
import { Draft, named, type Entry } from "./query_draft";

test("all names that are there are counted, not only those that came last", () => {
  const draft = new Draft();
  const missing: Entry = { given: "Xy", state: "missing", id: null, name: "", label: "", candidates: [] };
  draft.add([named("a", "Ann"), named("b", "Bob"), missing]);
  assert.equal(toldOfAll(draft, "0 of 1 name is found; 1 is not in the cube"), "2 of 3 names are found; 1 is not in the cube");
  assert.equal(toldOfAll(draft, "1 of 2 names are found, 1 of them is also the name of others; 1 is there twice"), "2 of 3 names are found, 1 of them is also the name of others; 1 is not in the cube; 1 is there twice");
  assert.equal(toldOfAll(draft, "choose the column"), "choose the column");
});
