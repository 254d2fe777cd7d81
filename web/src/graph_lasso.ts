// A line drawn around nodes: with the button, or while Shift is held.
import type { Point } from "./geometry";

export interface Lasso {
  /** Whether every drag draws a lasso, not only with Shift. */
  wanted(): boolean;
  /** Called while the lasso is drawn, and with null at its end. */
  draw(outline: Point[]): void;
  end(corners: Point[]): void;
}

/** Draws lassos on an element until a signal ends that. */
export function listenLasso(container: HTMLElement, lasso: Lasso, signal: AbortSignal): void {
  let outline: Point[] | null = null;
  const at = (event: PointerEvent): Point => {
    const box = container.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  // The view must not move along.
  for (const name of ["mousedown", "touchstart"]) {
    container.addEventListener(name, (event) => outline !== null && event.stopPropagation(), { capture: true, signal });
  }
  const begin = (event: PointerEvent): void => {
    if (event.button !== 0 || !(event.shiftKey || lasso.wanted())) return;
    outline = [at(event)];
    container.setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  const end = (): void => {
    if (outline === null) return;
    const corners = outline;
    outline = null;
    lasso.draw([]);
    if (corners.length >= 3) lasso.end(corners);
  };
  container.addEventListener("pointerdown", begin, { capture: true, signal });
  const move = (event: PointerEvent): void => {
    if (outline === null) return;
    outline.push(at(event));
    lasso.draw(outline);
  };
  container.addEventListener("pointermove", move, { signal });
  container.addEventListener("pointerup", end, { signal });
  container.addEventListener("pointercancel", end, { signal });
}
