// What the page calls the explanations and contrasts of the interface.
import type { SeparatingCellSchema } from "./types";

export type {
  BringingCellSchema as BringingCell,
  CellExplanationSchema as CellExplanation,
  ContrastSchema as Contrast,
  LiftSchema as Lift,
  NearMissSchema as NearMiss,
  ObjectExplanationSchema as ObjectExplanation,
  QueryLinkSchema as QueryLink,
} from "./types";

/** A cell that was chosen, which has a sentence, or the nearest, which has none. */
export type SeparatingCell = SeparatingCellSchema & { sentence?: string };
