import assert from "node:assert/strict";
import test from "node:test";
import { describeSeparators } from "./separators";

test("separators are described in words", () => {
  assert.equal(describeSeparators([]), "one value");
  assert.equal(describeSeparators([";"]), "; semicolon");
  assert.equal(describeSeparators([",,", " and "]), "every second comma or “and”");
});
