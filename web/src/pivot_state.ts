// Which part of the cube the heat map shows: two levels crossed, inside some labels, and the way back.
import { shortName } from "./geometry";
import type { DimensionSchema, PivotAnswer } from "./types";

export type Measure = "objects" | "share" | "lift";

export interface PivotState {
  rows: string;
  columns: string;
  /** The labels of restricted dimensions, by level; at most one level of a dimension. */
  where: Readonly<Record<string, string>>;
  /** Earlier states, each with the step to the next. */
  trail: readonly { step: string; state: PivotState }[];
}

const WIDE = 40;
const TALL = 60;

export function dimensionOf(dimensions: readonly DimensionSchema[], level: string): DimensionSchema | undefined {
  return dimensions.find((dimension) => dimension.levels.some(({ name }) => name === level));
}

/** The finest level of a dimension that a table can show, or else its coarsest. */
export function fittingLevel(dimension: DimensionSchema, most = WIDE): string {
  const fits = dimension.levels.find(({ labels }) => labels <= most);
  return (fits ?? dimension.levels[dimension.levels.length - 1]!).name;
}

/** The first state: time across, the dimension with most labels down. Null for a cube of one dimension. */
export function firstState(dimensions: readonly DimensionSchema[]): PivotState | null {
  if (dimensions.length < 2) return null;
  const across = dimensions.find(({ time }) => time) ?? dimensions[1]!;
  const size = (dimension: DimensionSchema): number => dimension.levels.find(({ name }) => name === fittingLevel(dimension, TALL))!.labels;
  const down = dimensions.filter((dimension) => dimension !== across).reduce((one, two) => (size(two) > size(one) ? two : one));
  return { rows: fittingLevel(down, TALL), columns: fittingLevel(across), where: {}, trail: [] };
}

/** The state with another level across or down; crossing a dimension with itself turns the table. */
export function withAxis(state: PivotState, dimensions: readonly DimensionSchema[], axis: "rows" | "columns", level: string): PivotState {
  const other = axis === "rows" ? "columns" : "rows";
  const clash = dimensionOf(dimensions, level) === dimensionOf(dimensions, state[other]);
  return clash ? { ...state, [axis]: level, [other]: state[axis] } : { ...state, [axis]: level };
}

interface Step {
  axis: "rows" | "columns";
  label: string;
  finer: string | null;
}

/** The state inside labels: each axis goes one level finer, or changes to another dimension. */
export function drilled(state: PivotState, dimensions: readonly DimensionSchema[], steps: readonly Step[]): PivotState {
  const fresh = steps.filter(({ axis, label }) => state.where[state[axis]] !== label);
  let next: PivotState = { ...state, trail: [...state.trail, { step: fresh.map(({ label }) => label).join(" · "), state }] };
  for (const { axis, label, finer } of steps) {
    const level = state[axis];
    const mine = dimensionOf(dimensions, level);
    const where = Object.fromEntries(Object.entries(next.where).filter(([other]) => dimensionOf(dimensions, other) !== mine));
    next = { ...next, where: { ...where, [level]: label }, [axis]: finer ?? level };
  }
  const finished = steps.filter(({ finer }) => finer === null);
  for (const { axis } of finished) {
    const taken = new Set([next.rows, next.columns, ...Object.keys(next.where)].map((level) => dimensionOf(dimensions, level)));
    const free = dimensions.find((dimension) => !taken.has(dimension));
    if (free !== undefined) next = { ...next, [axis]: fittingLevel(free) };
  }
  return next;
}

/** An earlier state of the trail. */
export function backTo(state: PivotState, at: number): PivotState {
  return state.trail[at]?.state ?? state;
}

/** The labels of the part that is shown: one for every dimension, ∗ for all. */
export function cellOf(state: PivotState, dimensions: readonly DimensionSchema[]): string[] {
  return dimensions.map((dimension) => {
    const level = dimension.levels.find(({ name }) => name in state.where);
    return level === undefined ? "∗" : state.where[level.name]!;
  });
}

/** Whether the part that is shown is a cell of the cube itself: a label of the finest level in every dimension. */
export function isFull(state: PivotState, dimensions: readonly DimensionSchema[]): boolean {
  return dimensions.every((dimension) => dimension.levels[0]!.name in state.where);
}

/** How strong the colour of a count is: square roots, so that small counts are seen beside large ones. */
export function strength(count: number, largest: number): number {
  return count <= 0 || largest <= 0 ? 0 : 0.12 + 0.88 * Math.sqrt(count / largest);
}

/** A sentence on the largest entry: of the query, or of all objects without one. */
export function fullest(answer: Pick<PivotAnswer, "rows" | "columns" | "objects" | "query">, queried: number): string {
  const mine = queried > 0 && answer.query.length > 0;
  const table = mine ? answer.query : answer.objects;
  let [most, row, column] = [0, 0, 0];
  table.forEach((line, at) => line.forEach((value, place) => value > most && ([most, row, column] = [value, at, place])));
  if (most === 0) return mine ? "None of your objects is here." : "";
  const where = `${shortName(answer.rows[row]!, 80)} · ${shortName(answer.columns[column]!, 80)}`;
  const many = most.toLocaleString("en-US");
  return mine ? `${where} has most of your objects: ${many} of ${queried.toLocaleString("en-US")}.` : `${where} is the largest, with ${many} objects.`;
}

/** A number short enough for a small cell. */
export function brief(value: number): string {
  if (value < 10_000) return String(value);
  return value < 1e6 ? `${Math.round(value / 1000)}k` : `${(value / 1e6).toFixed(value < 1e7 ? 1 : 0)}M`;
}
