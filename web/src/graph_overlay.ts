// The canvas above the network: names that do not overlap, highlights, the selected node, the lasso.
import type { Look } from "./palette";
import { fittingNames, shortName, type Box, type Candidate, type Point } from "./geometry";
import type { Model } from "./graph_model";
import type { Focus, Stage } from "./graph_stage";
import type { Role } from "./types";

export interface Overlay {
  context: CanvasRenderingContext2D;
  font: string;
  widths: Map<number, { text: string; width: number }>;
}

export interface Ghost extends Point {
  radius: number;
  colour: string;
  square: boolean;
}

interface Scene {
  model: Model;
  look: Look;
  stage: Stage;
  focus: Focus | null;
  selected: number | null;
  ghosts: readonly Ghost[];
  fade: number;
  outline: readonly Point[];
}

const HEIGHT = 15;
/** Maximum number of nodes tried for a name in one drawing, which limits the cost of a huge network. */
const TRIED = 2500;
const MOST_LIT_LINKS = 6000;
/** Number of nodes named even if their names cover others. */
const HUBS = 18;

export function drawOverlay(overlay: Overlay, scene: Scene): void {
  const { context } = overlay;
  const { stage, look } = scene;
  context.clearRect(0, 0, stage.size.width, stage.size.height);
  if (scene.ghosts.length > 0) drawGhosts(context, scene);
  if (scene.focus !== null) drawFocus(context, scene, scene.focus);
  if (scene.selected !== null) {
    if (scene.model.simple && scene.focus === null) drawLinks(context, scene, [scene.selected], null);
    const place = stage.screenPlace(scene.selected);
    context.beginPath();
    context.arc(place.x, place.y, stage.screenRadius(scene.selected) + 4, 0, 2 * Math.PI);
    context.lineWidth = 2.5;
    context.strokeStyle = look.accent;
    context.stroke();
  }
  drawNames(overlay, scene);
  if (scene.outline.length > 1) drawOutline(context, scene);
}

function drawGhosts(context: CanvasRenderingContext2D, { ghosts, fade }: Scene): void {
  context.globalAlpha = fade * 0.8;
  for (const ghost of ghosts) {
    context.fillStyle = ghost.colour;
    trace(context, ghost, ghost.radius * (0.4 + 0.6 * fade), ghost.square);
    context.fill();
  }
  context.globalAlpha = 1;
}

function drawFocus(context: CanvasRenderingContext2D, scene: Scene, focus: Focus): void {
  drawLinks(context, scene, focus.middle === null ? focus.nodes : [focus.middle], new Set(focus.nodes));
  for (const at of focus.nodes) drawNode(context, scene, at, focus);
}

/** The links of some nodes: all, or those to other highlighted nodes. A large network draws no others. */
function drawLinks(context: CanvasRenderingContext2D, { model, stage, look }: Scene, from: readonly number[], to: ReadonlySet<number> | null): void {
  context.lineWidth = 1.3;
  context.strokeStyle = look.text;
  context.globalAlpha = (to?.size ?? 0) > 400 ? 0.18 : 0.45;
  context.beginPath();
  let lines = 0;
  const { starts, ends } = model.neighbours;
  for (const one of from) {
    const begin = stage.screenPlace(one);
    for (let at = starts[one]!; at < starts[one + 1]! && lines < MOST_LIT_LINKS; at++) {
      const two = ends[at]!;
      if (to !== null && (!to.has(two) || (from.length > 1 && two < one))) continue;
      const end = stage.screenPlace(two);
      context.moveTo(begin.x, begin.y);
      context.lineTo(end.x, end.y);
      lines++;
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

function drawNode(context: CanvasRenderingContext2D, { model, stage, look }: Scene, at: number, focus: Focus): void {
  const role = model.roles[at]!;
  const place = stage.screenPlace(at);
  const radius = stage.screenRadius(at);
  const hollow = role === "neighbor" || role === "brought" || role === "pinned";
  trace(context, place, hollow ? radius - 0.8 : radius, role === "cell");
  context.fillStyle = hollow ? look.background : model.colours[at]!;
  context.fill();
  if (hollow) {
    context.lineWidth = Math.min(2.2, Math.max(1.2, radius * 0.3));
    context.strokeStyle = model.colours[at]!;
    context.stroke();
  }
  const mark = focus.went.has(at) ? look.went : focus.came.has(at) ? look.came : null;
  if (mark === null) return;
  trace(context, place, radius + 3.5, role === "cell");
  context.lineWidth = 2;
  context.strokeStyle = mark;
  context.stroke();
  if (!focus.went.has(at)) return;
  context.beginPath();
  const reach = radius + 5;
  context.moveTo(place.x - reach, place.y - reach);
  context.lineTo(place.x + reach, place.y + reach);
  context.stroke();
}

function trace(context: CanvasRenderingContext2D, place: Point, radius: number, square: boolean): void {
  context.beginPath();
  const side = Math.max(0.5, radius) * 0.88;
  if (square) context.rect(place.x - side, place.y - side, 2 * side, 2 * side);
  else context.arc(place.x, place.y, Math.max(0.5, radius), 0, 2 * Math.PI);
}

function drawNames(overlay: Overlay, scene: Scene): void {
  const { context } = overlay;
  const { model, stage, look, focus, selected } = scene;
  const { width, height } = stage.size;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.direction = "ltr";
  context.lineJoin = "round";
  const first = [...(focus?.middle != null ? [focus.middle] : []), ...(selected !== null ? [selected] : [])];
  const area = Math.sqrt((width * height) / (1280 * 800));
  const most = focus !== null ? 60 : Math.round((model.simple ? 24 : 46) * Math.max(0.35, area) * Math.min(2, Math.sqrt(stage.zoomed)));
  const named = fittingNames(candidates(overlay, scene, first), stage.size, Math.max(6, most), obstacles(scene), kept(scene));
  for (const name of named) {
    const { text } = overlay.widths.get(name.position)!;
    const cell = model.roles[name.position] === "cell";
    context.font = fontOf(overlay, model, name.position);
    context.lineWidth = 4;
    context.globalAlpha = 0.92;
    context.strokeStyle = look.background;
    context.strokeText(text, name.left, name.middle);
    context.globalAlpha = 1;
    context.fillStyle = cell ? look.cell : look.text;
    context.fillText(text, name.left, name.middle);
  }
}

/** Boxes that names must not cover: nodes of the query, and controls above the stage. */
function* kept(scene: Scene): Generator<Box> {
  for (const tool of scene.stage.above) {
    if (tool.offsetParent === null) continue;
    const { offsetLeft: left, offsetTop: top, offsetWidth, offsetHeight } = tool;
    yield { left: left - 2, top: top - 2, right: left + offsetWidth + 2, bottom: top + offsetHeight + 2 };
  }
  yield* nodesShown(scene, (role) => role === "query" || role === "pinned");
}

/** Boxes that names should not cover: all other nodes. */
const obstacles = (scene: Scene): Generator<Box> => nodesShown(scene, (role) => role !== "query" && role !== "pinned");

/** The boxes of the nodes of some roles, if there are not too many. */
function* nodesShown({ model, stage, focus }: Scene, wanted: (role: Role) => boolean): Generator<Box> {
  const { width, height } = stage.size;
  const shown = focus === null ? model.order.subarray(0, TRIED) : focus.nodes.slice(0, TRIED);
  if (model.simple && focus === null) return;
  for (const position of shown) {
    const { x, y } = stage.screenPlace(position);
    if (x < 0 || y < 0 || x > width || y > height) continue;
    if (!wanted(model.roles[position]!)) continue;
    const half = stage.screenRadius(position) + 1;
    yield { left: x - half, right: x + half, top: y - half, bottom: y + half };
  }
}

function fontOf(overlay: Overlay, model: Model, at: number): string {
  const role = model.roles[at];
  return role === "cell" ? `italic 11px ${overlay.font}` : `${role === "query" || role === "pinned" ? 600 : 400} 12px ${overlay.font}`;
}

function* candidates(overlay: Overlay, scene: Scene, first: readonly number[]): Generator<Candidate> {
  const { model, stage, focus } = scene;
  const { width, height } = stage.size;
  const lit = focus === null ? null : new Set(focus.nodes);
  let tried = 0;
  const hubs = lit === null ? HUBS : 60;
  const seen = new Set<number>();
  const order: Iterable<number> = lit !== null && lit.size < model.size / 4 ? byDegree(model, lit) : model.order;
  for (const source of [first, order]) {
    for (const position of source) {
      if (seen.has(position) || (lit !== null && !lit.has(position) && !first.includes(position))) continue;
      seen.add(position);
      if (++tried > TRIED) return;
      const place = stage.screenPlace(position);
      if (place.x < 0 || place.y < 0 || place.x > width || place.y > height) continue;
      yield { ...place, position, width: widthOf(overlay, model, position), height: HEIGHT, gap: stage.screenRadius(position) + 4, important: seen.size <= hubs };
    }
  }
}

const byDegree = (model: Model, lit: ReadonlySet<number>): number[] =>
  [...lit].sort((a, b) => rankOf(model, b) - rankOf(model, a));

const rankOf = (model: Model, at: number): number => model.degrees[at]! + (model.roles[at] === "query" ? 1e6 : 0);

function widthOf(overlay: Overlay, model: Model, position: number): number {
  let told = overlay.widths.get(position);
  if (told === undefined) {
    const name = model.names[position]!;
    const text = shortName(model.roles[position] === "cell" ? name.replace(/^⟨|⟩$/g, "") : name, 34);
    overlay.context.font = fontOf(overlay, model, position);
    told = { text, width: overlay.context.measureText(text).width };
    overlay.widths.set(position, told);
  }
  return told.width;
}

function drawOutline(context: CanvasRenderingContext2D, { outline, look }: Scene): void {
  context.beginPath();
  outline.forEach((point, at) => (at === 0 ? context.moveTo(point.x, point.y) : context.lineTo(point.x, point.y)));
  context.closePath();
  context.globalAlpha = 0.12;
  context.fillStyle = look.accent;
  context.fill();
  context.globalAlpha = 1;
  context.setLineDash([5, 4]);
  context.lineWidth = 1.5;
  context.strokeStyle = look.accent;
  context.stroke();
  context.setLineDash([]);
}
