// Temporary highlights, set by tables and panels and drawn by the network; and the lassoed nodes.
import type { Store } from "./state";
import type { Node } from "./types";

export interface Light {
  /** Highlighted nodes. */
  nodes?: readonly Node[];
  /** Nodes that would be added, and removed. */
  came?: readonly Node[];
  went?: readonly Node[];
}

export class Spotlight {
  light: Light | null = null;
  lassoed: readonly Node[] = [];
  private readonly listeners = new Set<() => void>();

  show(light: Light | null): void {
    if (light === this.light) return;
    this.light = light;
    this.tell();
  }

  lasso(nodes: readonly Node[]): void {
    this.lassoed = nodes;
    this.tell();
  }

  subscribe(listener: () => void): void {
    this.listeners.add(listener);
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

const spotlights = new WeakMap<Store, Spotlight>();

/** The spotlight of a store, shared by all parts of the page. */
export function spotlightOf(store: Store): Spotlight {
  let found = spotlights.get(store);
  if (found === undefined) spotlights.set(store, (found = new Spotlight()));
  return found;
}
