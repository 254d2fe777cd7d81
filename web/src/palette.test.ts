import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { coloursOf, contrastOf, heat, inkOn, liftHeat, LOOKS, mixed, PALETTES, premultiplied, rgbOf, type Theme } from "./palette";

// How people see colours who lack a kind of cone (Machado and others, 2009), on linear light.
const EYES: Record<string, number[][]> = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const LEAST: Record<string, number> = { all: 0.17, "no green": 0.11, "no red": 0.11, "no blue": 0.09 };

const linear = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

/** A colour as an eye sees it, in the space of OKLab, where distances are differences that are seen. */
function seen(hex: string, eye: number[][]): number[] {
  const light = rgbOf(hex).map((part) => linear(part / 255));
  const [r, g, b] = eye.map((row) => Math.max(0, row.reduce((sum, share, at) => sum + share * light[at]!, 0))) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

for (const theme of ["light", "dark"] as Theme[]) {
  for (const [eye, matrix] of Object.entries(EYES)) {
    test(`eight colours of labels stay apart on a ${theme} page for eyes with ${eye === "all" ? "all cones" : `${eye} cones`}`, () => {
      const colours = PALETTES[theme].map((hex) => seen(hex, matrix));
      colours.forEach((one, at) =>
        colours.slice(0, at).forEach((two, other) => {
          const distance = Math.hypot(...one.map((part, place) => part - two[place]!));
          assert.ok(distance > LEAST[eye]!, `${PALETTES[theme][at]} and ${PALETTES[theme][other]} are ${distance.toFixed(3)} apart`);
        }),
      );
    });
  }

  test(`colours of labels stand out from a ${theme} page`, () => {
    for (const hex of PALETTES[theme]) assert.ok(contrastOf(hex, LOOKS[theme].background) > 2.2, hex);
  });

  test(`numbers can be read on every colour of a ${theme} heat map`, () => {
    for (let step = 0; step <= 100; step++) {
      for (const colour of [heat(step / 100, theme), liftHeat(2 ** (step / 10 - 5), theme)]) assert.ok(contrastOf(colour, inkOn(colour)) >= 4.5, colour);
    }
  });

  test(`the page's own colours of labels are those of the network on a ${theme} page`, () => {
    const path = ["src/base.css", "web/src/base.css"].find(existsSync);
    if (path === undefined) return;
    const parts = readFileSync(path, "utf8").split("@media (prefers-color-scheme: dark)");
    const text = parts[theme === "light" ? 0 : 1]!;
    PALETTES[theme].forEach((hex, at) => assert.match(text, new RegExp(`--label-${at}: ${hex};`)));
  });
}

test("a label has one hue on light and dark pages and in pictures", () => {
  const hue = (hex: string): number => {
    const [, a, b] = seen(hex, EYES.all!) as [number, number, number];
    return (Math.atan2(b, a) * 180) / Math.PI;
  };
  const apart = (one: string, two: string): number => Math.abs(((hue(one) - hue(two) + 540) % 360) - 180);
  PALETTES.light.forEach((hex, at) => assert.ok(apart(hex, PALETTES.dark[at]!) < 25, `${hex} and ${PALETTES.dark[at]}`));
  const path = ["../src/cube2net/network/drawing/picture.py", "src/cube2net/network/drawing/picture.py"].find(existsSync);
  if (path === undefined) return;
  const pictured = /^COLOURS = \((.*)\)$/m.exec(readFileSync(path, "utf8"))![1]!.match(/#[0-9A-F]{6}/gi)!;
  pictured.forEach((hex, at) => assert.ok(apart(hex, PALETTES.light[at]!) < 25, `${hex} and ${PALETTES.light[at]}`));
});

test("labels have their colours by name, whoever comes first", () => {
  const one = coloursOf(["b", "a", "b"], "light");
  const two = coloursOf(["a", "b"], "light");
  assert.deepEqual(one.map(({ label, colour }) => [label, colour]), two.map(({ label, colour }) => [label, colour]));
  assert.deepEqual(one.map(({ count }) => count), [1, 2]);
});

test("labels beyond the palette are grey, and so are objects without one beside labels", () => {
  const colours = coloursOf([..."abcdefghij", ""], "dark");
  assert.equal(colours[7]!.colour, PALETTES.dark[7]);
  assert.deepEqual(colours.slice(8).map(({ label, colour }) => [label, colour]), ["i", "j", ""].map((label) => [label, LOOKS.dark.faded]));
});

test("a query without labels has one colour", () => {
  assert.deepEqual(coloursOf(["", ""], "light"), [{ label: "", count: 2, colour: PALETTES.light[0] }]);
});

test("a lift of one has no hue, and lifts beyond eightfold are as strong as eightfold", () => {
  assert.equal(liftHeat(8, "light"), liftHeat(500, "light"));
  assert.notEqual(liftHeat(8, "light", 64), liftHeat(64, "light", 64));
  assert.notEqual(liftHeat(2, "light"), liftHeat(0.5, "light"));
  const [r, g, b] = rgbOf(liftHeat(1, "light"));
  assert.ok(Math.max(r, g, b) - Math.min(r, g, b) < 4);
});

test("colours mix and carry their alpha", () => {
  assert.equal(mixed("#000000", "#ffffff", 0.5), "#808080");
  assert.equal(premultiplied("#ff8000", 0.5), "rgba(128, 64, 0, 0.500)");
});
