// What the page calls the explanations and contrasts of the interface.
import type { SeparatingCellShape } from "./types";

export type {
  BringingCellShape as BringingCell,
  CellExplanationShape as CellExplanation,
  ContrastShape as Contrast,
  LiftShape as Lift,
  NearMissShape as NearMiss,
  ObjectExplanationShape as ObjectExplanation,
  QueryLinkShape as QueryLink,
} from "./types";

/** A cell that was chosen, which has a sentence, or the nearest, which has none. */
export type SeparatingCell = SeparatingCellShape & { sentence?: string };
