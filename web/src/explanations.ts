// The fields of explanations that the page shows, as cube2net's records of the same names have them.
import type { Id } from "./types";

export interface SharedItem {
  id: string;
  title: string | null;
  time: string | number | null;
}

export interface QueryLink {
  id: Id;
  name: string;
  weight: number;
  items: number | null;
  newest: SharedItem[];
  kinds: string[];
  first: string | number | null;
  last: string | number | null;
}

export interface BringingCell {
  rank: number;
  labels: string[];
  gain: number;
}

export interface NearMiss {
  obstacle: string;
  left_out: string;
  cell: string[] | null;
  value: number | null;
  price: number | null;
  option: string;
  needed: number | null;
  now: number | null;
  exact: boolean;
  least: boolean;
  note: string;
}

export interface ObjectExplanation {
  id: Id;
  name: string;
  present: boolean;
  came: string;
  value: number;
  cells: BringingCell[];
  linked: number;
  links: QueryLink[];
  rank: number | null;
  ranked: number;
  steps: number | null;
  within: number;
  ways: number;
  paths: { ids: Id[]; names: string[]; weight: number }[];
  miss: NearMiss | null;
  note: string;
  chosen_cells: number;
}

export interface Lift {
  dimension: string;
  label: string;
  query: number;
  queried: number;
  everyone: number;
  objects: number;
  lift: number;
  low: number;
  high: number;
}

export interface CellExplanation {
  labels: string[];
  chosen: boolean;
  rank: number | null;
  chosen_cells: number;
  in_turn: number | null;
  alone: number;
  last: number;
  objects: number;
  query_objects: number;
  queried: number;
  lift: Lift;
  label_lifts: Lift[];
  only: number;
  only_query: number;
  only_first: { id: Id; name: string; in_query: boolean }[];
  pinned: boolean;
  banned: boolean;
  why_not: string;
}

export interface SeparatingCell {
  labels: string[];
  levels: (string | null)[];
  objects: [number, number];
  shares: [number, number];
  for: 1 | 2;
  lift: number | null;
  difference: number;
  interval: [number, number];
  chance: number;
  sentence?: string;
}

export interface Contrast {
  sides: [{ name: string; objects: number }, { name: string; objects: number }];
  sentence: string;
  cells: SeparatingCell[];
  nearest: SeparatingCell | null;
  tested: number;
  chance: number;
}
