// Colours of labels and of heat maps, for light and dark pages, told apart by people who see fewer colours.

export type Theme = "light" | "dark";

/**
 * The colours of labels, in order: the hues of exported pictures, and two more.
 *
 * Tests check that they stay apart for colour-blind eyes, and that a label has one hue on every ground.
 */
export const PALETTES: Record<Theme, readonly string[]> = {
  light: ["#1c68a7", "#df4f0d", "#139e78", "#fc66ba", "#e0a124", "#3db2fb", "#843425", "#9250f4"],
  dark: ["#419fdf", "#f08a3c", "#13d0aa", "#b36e8f", "#ecd329", "#b5d1ff", "#ee0000", "#802bec"],
};

export interface Look {
  background: string;
  text: string;
  faded: string;
  cell: string;
  ring: string;
  /** Colours of links with their alpha. */
  link: readonly [string, number];
  inner: readonly [string, number];
  membership: readonly [string, number];
  accent: string;
  came: string;
  went: string;
}

/** Colours of the network; links are thin, so their colours are strong. */
export const LOOKS: Record<Theme, Look> = {
  light: {
    background: "#ffffff",
    text: "#1b2430",
    faded: "#8b95a3",
    cell: "#3d4756",
    ring: "#7d8896",
    link: ["#505e72", 0.2],
    inner: ["#324056", 0.42],
    membership: ["#4a586c", 0.6],
    accent: "#0b57d0",
    came: "#00775c",
    went: "#b3261e",
  },
  dark: {
    background: "#191b1f",
    text: "#e8ecf2",
    faded: "#78828f",
    cell: "#c3ccd8",
    ring: "#8793a2",
    link: ["#a0b0c6", 0.2],
    inner: ["#c4d2e6", 0.42],
    membership: ["#b4c2d6", 0.6],
    accent: "#8ab4ff",
    came: "#57d9b3",
    went: "#ff8a80",
  },
};

type Rgb = [number, number, number];

export function rgbOf(hex: string): Rgb {
  const number = parseInt(hex.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

function hexOf(rgb: readonly number[]): string {
  return "#" + rgb.map((part) => Math.round(Math.min(255, Math.max(0, part))).toString(16).padStart(2, "0")).join("");
}

/** A colour between two: `share` 0 is the first, 1 the second. */
export function mixed(one: string, two: string, share: number): string {
  const [a, b] = [rgbOf(one), rgbOf(two)];
  return hexOf(a.map((part, at) => part + (b[at]! - part) * share));
}

/** How bright a colour is to the eye, 0 to 1, as the rules for accessible pages define it. */
export function luminance(hex: string): number {
  const [r, g, b] = rgbOf(hex).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours, 1 to 21; text needs 4.5. */
export function contrastOf(one: string, two: string): number {
  const [light, dark] = [luminance(one), luminance(two)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(colour: string): string {
  return contrastOf(colour, "#000000") >= contrastOf(colour, "#ffffff") ? "#000000" : "#ffffff";
}

export interface LabelColour {
  label: string;
  colour: string;
  count: number;
}

/** The labels of a query by name, with colour and count; labels beyond the palette are grey. */
export function coloursOf(labels: readonly string[], theme: Theme): LabelColour[] {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const palette = PALETTES[theme];
  const named = [...counts].filter(([label]) => label !== "").sort(([a], [b]) => (a < b ? -1 : 1));
  const coloured = named.map(([label, count], at) => ({ label, count, colour: palette[at] ?? LOOKS[theme].faded }));
  const bare = counts.get("");
  if (bare === undefined) return coloured;
  return [...coloured, { label: "", count: bare, colour: named.length === 0 ? palette[0]! : LOOKS[theme].faded }];
}

const HEATS: Record<Theme, [string, string, string]> = {
  light: ["#f4f7fb", "#6ea6d8", "#08306b"],
  dark: ["#1a2028", "#2f6fa8", "#cfe6ff"],
};
const LIFTS: Record<Theme, [string, string, string]> = {
  light: ["#9a4a00", "#f5f5f4", "#00568f"],
  dark: ["#ff9f4d", "#22272e", "#6fbcff"],
};

/** The colour of a share of the largest value, 0 to 1, from pale to strong. */
export function heat(share: number, theme: Theme): string {
  const [pale, middle, strong] = HEATS[theme];
  const at = Math.min(1, Math.max(0, share));
  return at < 0.5 ? mixed(pale, middle, at * 2) : mixed(middle, strong, at * 2 - 1);
}

/** The colour of a lift: one hue below 1, another above, none at 1; `most` is the strongest, and so is its inverse. */
export function liftHeat(lift: number, theme: Theme, most = 8): string {
  const [less, even, more] = LIFTS[theme];
  // An empty entry says little: most cells are too small to have an object of the query.
  if (lift <= 0) return mixed(even, less, 0.18);
  const way = Math.max(-1, Math.min(1, Math.log2(lift) / Math.log2(Math.max(8, most))));
  return way < 0 ? mixed(even, less, -way) : mixed(even, more, way);
}

/** A colour with its alpha multiplied in, as the blending of the WebGL layers wants it. */
export function premultiplied(hex: string, alpha: number): string {
  const [r, g, b] = rgbOf(hex).map((part) => Math.round(part * alpha));
  return `rgba(${r}, ${g}, ${b}, ${alpha.toFixed(3)})`;
}
