// The frame of a layout on the stage: bounding box, stretch, and pixels per unit.

/** The room around the network within the stage, in pixels. */
export const PADDING = 34;
/** The axes of a layout have no meaning, so one is stretched up to this factor to fill the stage. */
const STRETCH = 1.6;

export interface Size {
  width: number;
  height: number;
}

export interface Box {
  x: [number, number];
  y: [number, number];
}

export function boxOf(xs: Float64Array, ys: Float64Array): Box {
  const box: Box = { x: [Infinity, -Infinity], y: [Infinity, -Infinity] };
  for (let at = 0; at < xs.length; at++) {
    box.x = [Math.min(box.x[0], xs[at]!), Math.max(box.x[1], xs[at]!)];
    box.y = [Math.min(box.y[0], ys[at]!), Math.max(box.y[1], ys[at]!)];
  }
  return xs.length === 0 ? { x: [0, 1], y: [0, 1] } : box;
}

export const between = (from: [number, number], to: [number, number], share: number): [number, number] => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
];

/** Pixels per unit of the layout if all of it is in view. */
export function unitOf(box: Box, { width, height }: Size): number {
  const across = Math.max(1e-9, box.x[1] - box.x[0]);
  const up = Math.max(1e-9, box.y[1] - box.y[0]);
  return Math.min((width - 2 * PADDING) / across, (height - 2 * PADDING) / up);
}

/** The stretch of the layout to fill the stage. */
export function stretchOf(box: Box, { width, height }: Size): [number, number] {
  if (width <= 2 * PADDING || height <= 2 * PADDING) return [1, 1];
  const [across, up] = [box.x[1] - box.x[0], box.y[1] - box.y[0]];
  if (across <= 0 || up <= 0) return [1, 1];
  const wider = Math.min(STRETCH, Math.max(1 / STRETCH, ((width - 2 * PADDING) / (height - 2 * PADDING)) * (up / across)));
  return wider > 1 ? [wider, 1] : [1, 1 / wider];
}
