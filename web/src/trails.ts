// The history of requests, for undo and redo.
import type { NetworkRequest } from "./types";

/** A history: the addresses of the page, or the memory of a widget. */
export interface Trail {
  push(request: NetworkRequest): void;
  /** Replaces the last request; `soon` while a slider is moving. */
  replace(request: NetworkRequest, soon?: boolean): void;
  back(): void;
  forward(): void;
  readonly canGoBack: boolean;
  readonly canGoForward: boolean;
}

/** A history in memory. */
export function memoryTrail(arrive: (request: NetworkRequest) => void): Trail {
  const asks: NetworkRequest[] = [{ query: [] }];
  let at = 0;
  const go = (step: number): void => {
    const request = asks[at + step];
    if (request === undefined) return;
    at += step;
    arrive(request);
  };
  return {
    push(request) {
      asks.splice(at + 1, Infinity, request);
      at += 1;
    },
    replace(request) {
      asks[at] = request;
    },
    back: () => go(-1),
    forward: () => go(1),
    get canGoBack() {
      return at > 0;
    },
    get canGoForward() {
      return at < asks.length - 1;
    },
  };
}
