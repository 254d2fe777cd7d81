import assert from "node:assert/strict";
import { test } from "node:test";
import { columnText, valueText } from "./cells";
import { bothChange, pValueText } from "./contrast";
import { headlineOf } from "./header";
import type { NetworkAnswer } from "./types";
import { plainVerdict } from "./verdict";
import { describeDimensions, fileTitle, levelsLine, measureLine, methodLine, methodTitle, plain, sentence } from "./words";

test("sentences name fields as the page does, and cells without what stands for all", () => {
  assert.equal(plain("max_nodes is 5, expected 18 or more"), "Maximum number of nodes is 5, expected 18 or more");
  assert.equal(plain("n_neighbors is -5, expected 0 or more objects, or None"), "Neighbours is -5, expected 0 or more objects, or nothing");
  assert.equal(plain("the nearest is ⟨∗ · EACL · ∗⟩ (6 %)"), "the nearest is EACL (6 %)");
  assert.equal(plain("⟨2020 · ACL · parsing⟩ is chosen"), "⟨2020 · ACL · parsing⟩ is chosen");
  assert.equal(plain("objects near the query"), "objects near the query");
  const advice = "use the method 'none', 'hops' or 'pagerank', a cube rolled up (roll_up), or one built with a smaller min_objects (min_objects=2)";
  assert.equal(plain(advice), "choose the method none, hops or pagerank under Settings, or build the cube again with a smaller “Smallest group”");
  assert.equal(plain("with 2 in a cell city would (min_objects=2)"), "with 2 in a cell city would (set “Smallest group” to 2)");
  assert.equal(plain("columns of links not used: 'x' (each may be weight, kind or time: columns={'links.kind': 'x'})"), "columns of links not used: 'x' (choose it in the list of columns)");
});

test("every usual method, level, measure and file is told in plain words", () => {
  for (const name of ["greedy", "auto", "pagerank", "hops", "none"]) assert.notEqual(methodLine(name), "");
  assert.notEqual(levelsLine("only venue"), "");
  assert.match(measureLine("NMI, louvain"), /labels/);
  assert.equal(measureLine("unheard of"), "");
  assert.equal(fileTitle(".graphml"), "graphml (Gephi, yEd)");
  assert.equal(fileTitle(".xlsx"), "xlsx (Excel, LibreOffice)");
  assert.equal(fileTitle(".new"), "new");
  assert.equal(methodTitle("cube2net", true, "the method 'cube2net' needs the package 'torch'"), "cube2net (needs the package 'torch')");
  assert.equal(methodTitle("exact", true, null), "exact (takes longer)");
});

test("dimensions are told without the signs in which they are asked for", () => {
  assert.equal(describeDimensions(["genres", "topic"]), "genres × topic");
  assert.equal(describeDimensions(["Review@years/decades", "decade=year@decades"]), "Review (years, decades) × decade");
  assert.equal(describeDimensions(["edition/semi_final", "age@width:5"]), "edition (semi_final) × age (steps of 5)");
});

test("a column of gains has one number of decimals and one minus sign", () => {
  const gain = columnText([0.5, -0.0312, 0.00071], true);
  assert.deepEqual([0.5, -0.0312, 0.00071].map(gain), ["+0.50000", "−0.03120", "+0.00071"]);
  assert.deepEqual([10, 2, -1].map(columnText([10, 2, -1], true)), ["+10", "+2", "−1"]);
  assert.deepEqual([0.25, 0.5].map(columnText([0.25, 0.5])), ["0.25", "0.50"]);
  assert.equal(valueText(-2), "−2");
});

function network(cells: number[][], chosen: number): NetworkAnswer {
  const role = [...cells.map(() => "query"), "neighbor"];
  return { nodes: { role, cells: [...cells, []] }, cells: Array(chosen).fill({}), links: { source: [0, 1], target: [1, 0] } } as unknown as NetworkAnswer;
}

test("the headline says what is there and who of the query is in no cell", () => {
  const some = headlineOf(network([[1], [], [1, 2]], 2));
  assert.equal(some.holds, "Your 3 objects, 1 neighbour and 2 cells; 2 links.");
  assert.equal(some.held, "2 of your 3 objects are in the 2 cells; 1 is in none of them: ");
  assert.deepEqual(some.loose, [1]);
  assert.equal(headlineOf(network([[1], [1]], 1)).held, "All of your objects are in the cell.");
  const none = headlineOf(network([[], []], 0));
  assert.deepEqual([none.holds, none.held, none.loose], ["Your 2 objects and 1 neighbour; 2 links.", "", []]);
});

test("the headline counts links to cells apart", () => {
  const nodes = { role: ["query", "query", "cell"], cells: [[1], [1], []] };
  const network = { nodes, cells: [{}], links: { source: [0, 0, 1], target: [1, 2, 2] } } as unknown as NetworkAnswer;
  assert.equal(headlineOf(network).holds, "Your 2 objects and 1 cell; 1 link and 2 links to the cell.");
});

test("a p-value is shown with its verdict", () => {
  assert.equal(pValueText(0.654), "not significant (p\u00a0=\u00a00.65)");
  assert.equal(pValueText(0.0123), "significant (p\u00a0=\u00a00.012)");
});

test("both sides together are one query, labelled by side, and nobody is asked for twice", () => {
  const change = bothChange({ name: "the query", ids: ["a", "b"], label: null }, { name: "the pasted", ids: ["b", "c"], label: null });
  assert.deepEqual(change, { query: ["a", "b", "c"], labels: ["the query", "the query and the pasted", "the pasted"] });
});

test("a verdict begins with a plain line that follows the finding", () => {
  assert.match(plainVerdict({ finding: "helps" }), /^It helps/);
  assert.match(plainVerdict({ finding: "maybe" }), /^Undecided: better/);
  assert.match(plainVerdict({ finding: "level" }), /^It does not help/);
  assert.match(plainVerdict({ finding: "few" }), /^Undecided: there are too few/);
  assert.match(plainVerdict({ finding: "nothing" }), /^Undecided: nothing could be compared/);
});

test("a sentence begins with a capital letter and ends with a full stop", () => {
  assert.equal(sentence("no cube is open yet"), "No cube is open yet.");
  assert.equal(sentence("save it as .csv"), "Save it as .csv.");
});

test("the name of a file at the start of a sentence stays as it is", () => {
  assert.equal(sentence("leer.csv is empty"), "leer.csv is empty.");
  assert.equal(sentence("meine liste.csv is empty", ["meine liste.csv"]), "meine liste.csv is empty.");
});
