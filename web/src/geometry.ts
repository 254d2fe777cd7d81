// Geometry of points and boxes on the screen.

export interface Point {
  x: number;
  y: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Whether a point is inside a polygon (ray casting). */
export function insidePolygon(point: Point, corners: readonly Point[]): boolean {
  let inside = false;
  for (let at = 0, before = corners.length - 1; at < corners.length; before = at++) {
    const [one, two] = [corners[at]!, corners[before]!];
    if (one.y > point.y === two.y > point.y) continue;
    if (point.x < ((two.x - one.x) * (point.y - one.y)) / (two.y - one.y) + one.x) inside = !inside;
  }
  return inside;
}

const overlaps = (one: Box, two: Box): boolean =>
  one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom;

/** Boxes on a stage: a grid finds the few that may touch another. */
export class Crowd {
  private readonly squares = new Map<string, Box[]>();

  constructor(private readonly side = 64) {}

  /** Whether a box overlaps none that is there. */
  isFree(box: Box): boolean {
    return !this.keysOf(box).some((key) => this.squares.get(key)?.some((other) => overlaps(box, other)));
  }

  add(box: Box): void {
    for (const key of this.keysOf(box)) {
      const square = this.squares.get(key);
      if (square === undefined) this.squares.set(key, [box]);
      else square.push(box);
    }
  }

  private keysOf(box: Box): string[] {
    const keys: string[] = [];
    const at = (place: number) => Math.floor(place / this.side);
    for (let x = at(box.left); x <= at(box.right); x++) for (let y = at(box.top); y <= at(box.bottom); y++) keys.push(`${x},${y}`);
    return keys;
  }
}

export interface Candidate extends Point {
  position: number;
  width: number;
  height: number;
  /** How far from the middle of the node its name begins. */
  gap: number;
  /** A name that may cover obstacles where it finds no better place. */
  important?: boolean;
}

export interface Named extends Candidate {
  left: number;
  middle: number;
}

/**
 * The candidates whose names fit on a stage without touching each other or an obstacle, in their order, each placed.
 *
 * Important ones may cover obstacles, but no name covers what is to be kept clear.
 */
export function fittingNames(
  candidates: Iterable<Candidate>,
  stage: { width: number; height: number },
  most: number,
  obstacles: Iterable<Box> = [],
  clear: Iterable<Box> = [],
): Named[] {
  const crowd = new Crowd();
  for (const box of clear) crowd.add(box);
  const ground = new Crowd();
  for (const box of obstacles) ground.add(box);
  const named: Named[] = [];
  for (const each of candidates) {
    if (named.length >= most) break;
    const { x, y, gap, width, height } = each;
    const sides = [
      { left: x + gap, middle: y },
      { left: x - gap - width, middle: y },
      { left: x - width / 2, middle: y - gap - height / 2 },
      { left: x - width / 2, middle: y + gap + height / 2 },
      { left: x + gap * 0.6, middle: y - gap * 0.6 - height / 2 },
      { left: x + gap * 0.6, middle: y + gap * 0.6 + height / 2 },
      { left: x - gap * 0.6 - width, middle: y - gap * 0.6 - height / 2 },
      { left: x - gap * 0.6 - width, middle: y + gap * 0.6 + height / 2 },
    ];
    const places = sides
      .map((side) => ({ ...side, box: { left: side.left - 1, right: side.left + width + 1, top: side.middle - height / 2, bottom: side.middle + height / 2 } }))
      .filter(({ box }) => box.left >= 0 && box.right <= stage.width && box.top >= 0 && box.bottom <= stage.height && crowd.isFree(box));
    const place = places.find(({ box }) => ground.isFree(box)) ?? (each.important ? places[0] : undefined);
    if (place === undefined) continue;
    crowd.add(place.box);
    named.push({ ...each, left: place.left, middle: place.middle });
  }
  return named;
}

/** A text cut to a number of characters, without invisible ones, on one line. */
export function shortName(name: string, most = 32): string {
  const seen = name.slice(0, most * 8).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, (found) => (/\s/.test(found) ? " " : ""));
  const letters = Array.from(seen.trim() || (name === "" ? "" : "(no name)"));
  return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("").trimEnd() + "…";
}
