import assert from "node:assert/strict";
import test from "node:test";
import { clearlyMeant } from "./nearest_name";

const of = (...names: string[]) => names.map((name) => ({ id: name, name, kind: "", about: "" }));

test("of several suggestions one is taken only where it is nearer than all others", () => {
  assert.equal(clearlyMeant("Haas Maschinenbau", of("Haas Maschinenbau AG", "Haas Maschinenbau GmbH & Co. KG")), null);
  assert.equal(clearlyMeant("Ivan Vulic", of("Ivan Vladimir", "Ivan Vulić"))?.name, "Ivan Vulić");
  assert.equal(clearlyMeant("Jan Müler", of("Jan Müller", "Jan Mühler")), null);
  assert.equal(clearlyMeant("Jan", of("Jan Pflüger"))?.name, "Jan Pflüger");
  assert.equal(clearlyMeant("Jan", []), null);
});
