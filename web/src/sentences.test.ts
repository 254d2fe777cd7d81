import assert from "node:assert/strict";
import test from "node:test";
import { sentence } from "./sentences";

test("a sentence begins with a capital letter and ends with a full stop", () => {
  assert.equal(sentence("no cube is open yet"), "No cube is open yet.");
  assert.equal(sentence("save it as .csv"), "Save it as .csv.");
});

test("the name of a file at the start of a sentence stays as it is", () => {
  assert.equal(sentence("leer.csv is empty"), "leer.csv is empty.");
  assert.equal(sentence("meine liste.csv is empty", ["meine liste.csv"]), "meine liste.csv is empty.");
});
