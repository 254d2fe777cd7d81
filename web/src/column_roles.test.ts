import assert from "node:assert/strict";
import test from "node:test";
import { columnsFor, describeSeparators, DIMENSION, findLinkProblem, KEPT, notTaken, nowOf, outcome, sizeOf } from "./column_roles";
import type { ColumnUse, ReadingSchema } from "./types";

const ALONE = ["nodes.id", "nodes.name", "nodes.text", "links.target", "mentions.object"];
const use = (column: string, role = "", table = "nodes", may = ALONE): ColumnUse => ({ table, column, role, may, samples: [], separators: [], can_split: false, distinct: 3 });
const read = (links: number | null): ReadingSchema => ({ links }) as ReadingSchema;

test("a column that is chosen for a role leaves the one that it had", () => {
  const uses = [use("Nr", "nodes.id"), use("Notes", "nodes.text"), use("Firm")];
  assert.deepEqual(columnsFor(uses, {}, uses[2]!, "nodes.name"), { "nodes.name": "Firm" });
  assert.deepEqual(columnsFor(uses, { columns: { "nodes.text": "Notes" } }, uses[1]!, KEPT), { "nodes.text": "" });
  assert.deepEqual(columnsFor(uses, {}, uses[1]!, DIMENSION), { "nodes.text": "" });
  assert.deepEqual(columnsFor(uses, { columns: { "nodes.name": "Firm" } }, uses[2]!, "links.target"), { "links.target": "Firm" });
});

test("a name is given up only with what tells rows apart without it", () => {
  const uses = [use("Nr", "nodes.id"), use("Firm", "nodes.name")];
  assert.deepEqual(columnsFor(uses, {}, uses[1]!, KEPT), { "nodes.name": "", "nodes.id": "Nr" });
});

test("rows that bring others together are records, and what told them apart tells these", () => {
  const uses = [use("Project", "nodes.id"), use("People", "nodes.text")];
  assert.deepEqual(columnsFor(uses, { columns: { "nodes.name": "x" } }, uses[1]!, "mentions.object"), { "items.item": "Project", "mentions.object": "People" });
});

test("a list shows the name that was chosen, although it tells rows apart as well", () => {
  const uses = [use("Firm", "nodes.id"), use("City")];
  const answer = { uses, choices: [{ column: "City", dimension: "City", chosen: true }] };
  assert.equal(nowOf(uses[0]!, answer, { columns: { "nodes.name": "Firm" } }), "nodes.name");
  assert.equal(nowOf(uses[0]!, answer, {}), "nodes.id");
  assert.equal(nowOf(uses[1]!, answer, {}), DIMENSION);
});

test("what was not heeded is said with what helps, and what was is not", () => {
  const answer = { uses: [use("Nr", "nodes.id"), use("Knows")], choices: [{ column: "Knows", dimension: "", chosen: false }] };
  assert.match(notTaken(answer, { column: "Knows", what: "links.target" }) ?? "", /^Knows makes no links: .* known by Nr; choose “name”/);
  assert.equal(notTaken(answer, { column: "Knows", what: KEPT }), null);
  assert.match(notTaken(answer, { column: "Knows", what: DIMENSION }) ?? "", /makes no groups/);
  assert.equal(notTaken(answer, { column: "Nr", what: "nodes.name" }), null);
});

test("no links are said with the column to choose", () => {
  const uses = [use("Nr", "nodes.id"), use("Knows")];
  assert.match(findLinkProblem({ read: read(0), uses, is_linked: false }) ?? "", /^No links were found. Choose “links to other rows”/);
  assert.equal(findLinkProblem({ read: read(3), uses, is_linked: true }), null);
  const records = [use("Paper", "items.item"), use("Authors", "mentions.object")];
  assert.equal(findLinkProblem({ read: read(null), uses: records, is_linked: true }), null);
  assert.match(findLinkProblem({ read: read(null), uses: records, is_linked: false }) ?? "", /single value in Authors/);
});

test("what becomes of a column is told with numbers", () => {
  const answer = { read: { objects: 612, links: null } as ReadingSchema, items: 141, kinds: ["Authors"], choices: [], uses: [use("Paper", "items.item", "items"), use("Authors", "mentions.object", "mentions"), use("Venue", "", "items")] };
  assert.equal(sizeOf(answer), "612 objects (Authors) in 141 records");
  assert.equal(outcome(answer.uses[1]!, "mentions.object", answer), "612 objects in 141 records");
  assert.equal(outcome(answer.uses[2]!, DIMENSION, answer), "3 groups");
  const dated = { ...answer, choices: [{ column: "Venue", dimension: "Venue@years/decades", chosen: true }] };
  assert.equal(outcome(answer.uses[2]!, DIMENSION, dated), "groups: years, decades");
});

test("citation exports have objects of a kind in records, and a table of people has rows and links", () => {
  const citations = { read: { objects: 255, links: null } as ReadingSchema, items: 81, kinds: ["author"], uses: [use("year", "", "", [])] };
  assert.equal(sizeOf(citations), "255 objects (author) in 81 records");
  const people = { read: { objects: 311, links: 229 } as ReadingSchema, items: 311, kinds: ["node"], uses: [use("Name", "nodes.id")] };
  assert.equal(sizeOf(people), "311 rows and 229 links");
});

test("separators are described in words", () => {
  assert.equal(describeSeparators([]), "one value");
  assert.equal(describeSeparators([";"]), "; semicolon");
  assert.equal(describeSeparators([",,", " and "]), "every second comma or “and”");
});
