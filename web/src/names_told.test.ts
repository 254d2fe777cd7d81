import assert from "node:assert/strict";
import test from "node:test";
import { summarizeNames } from "./names_told";
import { Draft, named, type Entry } from "./query_draft";

test("all names are counted, not only the latest ones", () => {
  const draft = new Draft();
  const missing: Entry = { given: "Xy", state: "missing", id: null, name: "", label: "", candidates: [] };
  draft.add([named("a", "Ann"), named("b", "Bob")]);
  assert.equal(summarizeNames(draft, []), "2 names found");
  draft.add([missing]);
  assert.equal(summarizeNames(draft, ["1 name repeated", "2 labels"]), "2 of 3 names found; 1 name repeated; 2 labels");
});
