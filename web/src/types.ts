// The questions and answers of the JSON interface; generated from the records of cube2net.api.

export type Id = string | number;
export type Labels = string[];
export interface NamedCell { cell: Labels }
export interface NamedObject { object: Id }
export type Node = NamedCell | NamedObject;
export interface View {
  where?: Record<string, string[]>;
  roll_up?: Record<string, string>;
  between?: string;
  kind?: string[];
}
export interface Ask extends View {
  query: Id[];
  labels?: string[] | null;
  method?: string;
  objective?: string | null;
  form?: string | null;
  m?: number | null;
  r?: number | null;
  near?: number | null;
  levels?: string | string[];
  max_nodes?: number | null;
  pins?: Node[];
  bans?: Node[];
  like?: Id[];
  unlike?: Id[];
  options?: Record<string, string | number | boolean>;
  bound?: boolean;
  seed?: number;
  cube?: string;
}
export interface LevelShape { name: string; labels: number }
export interface DimensionShape { name: string; levels: LevelShape[]; time: boolean }
export interface OptionShape { name: string; default: string | number | boolean | null }
export interface MethodShape { name: string; cells: boolean; long: boolean; missing: string | null; options: OptionShape[] }
export interface CubeAnswer {
  name: string;
  checksum: string | null;
  sentence: string;
  attribution: string;
  objects: number;
  cells: number;
  links: number;
  dimensions: DimensionShape[];
  kinds: string[];
  items: boolean;
  times: string[] | null;
  methods: MethodShape[];
  objectives: string[];
  forms: string[];
  exports: string[];
  version: string;
}
export interface NamesQuestion { text: string }
export interface Candidate { id: Id; name: string; kind: string; about: string }
export interface NameRow {
  given: string;
  state: "found" | "ambiguous" | "missing" | "repeated";
  id: Id | null;
  name: string;
  label: string;
  candidates: Candidate[];
}
export interface NamesAnswer {
  rows: NameRow[];
  found: number;
  ambiguous: number;
  missing: number;
  repeated: number;
  labelled: boolean;
  sentence: string;
}
export interface CompleteQuestion { text: string; most?: number }
export interface CompleteAnswer { candidates: Candidate[] }
export interface MembersQuestion extends View { cells: Labels[]; most?: number }
export interface MembersAnswer { ids: Id[]; names: string[]; objects: number; sentence: string }
export interface PivotQuestion extends View { rows: string; columns: string; query?: Id[]; cells?: Labels[]; most?: number }
export interface PivotAnswer {
  rows: string[];
  columns: string[];
  objects: number[][];
  query: number[][];
  lift: (number | null)[][];
  chosen: number[][];
  finer: (string | null)[];
  more_rows: number;
  more_columns: number;
  sentence: string;
}
export type Role = "query" | "near" | "brought" | "pinned" | "cell";
export interface NodeColumns {
  id: Id[];
  name: string[];
  kind: string[];
  role: Role[];
  label: string[];
  query_links: number[];
  cells: number[][];
  labels: (Labels | null)[];
}
export interface LinkColumns { source: number[]; target: number[]; weight: number[] }
export interface ChosenCell {
  labels: Labels;
  title: string;
  gain: number;
  objects: number;
  query_objects: number;
  share: number;
  pinned: boolean;
}
export interface PriceShape { kind: string; title: string; price: number | null; sentence: string }
export interface ConstructQuestion { ask: Ask; prices?: boolean }
export interface NetworkAnswer {
  ask: Ask;
  fingerprint: string;
  sentence: string;
  note: string;
  certificate: string;
  value: number | null;
  bound: number | null;
  proven: boolean | null;
  nodes: NodeColumns;
  links: LinkColumns;
  cells: ChosenCell[];
  dimensions: string[];
  prices: PriceShape[];
  summary: Record<string, unknown>;
  seconds: Record<string, number>;
}
export interface LayoutQuestion { ask: Ask; start?: (number[] | null)[] }
export interface LayoutAnswer { places: number[][] }
export interface ExplainQuestion { ask: Ask; node?: Node }
export interface ExplainAnswer { kind: "object" | "cell" | "account"; sentence: string; explanation: Record<string, unknown> }
export interface WithoutQuestion { ask: Ask; without?: Node[]; with_?: Node[] }
export interface ChangeAnswer {
  sentence: string;
  value: number;
  before: number;
  merely: number;
  entered: Node[];
  left: Node[];
  change: Record<string, unknown>;
}
export interface ContrastQuestion extends View { query: Id[]; against?: Id[]; names?: string[]; m?: number }
export interface ContrastAnswer { sentence: string; contrast: Record<string, unknown> }
export interface DrillQuestion extends View { query: Id[]; cell?: Labels; k?: number }
export interface DrillAnswer { sentence: string; drilled: Record<string, unknown> }
export interface CompareQuestion { ask: Ask; task?: "clustering" | "hidden" | null; runs?: number }
export interface CompareAnswer { sentence: string; table: Record<string, unknown>[]; report: string }
export interface ExportQuestion { ask: Ask; format: string }
export interface FailureDetail { sentence: string; kind: string }
export interface Failure { error: FailureDetail }
export interface ProgressShape { stage: string; done: number; total: number | null }

export interface Routes {
  cube: { question: Record<string, never>; answer: CubeAnswer };
  names: { question: NamesQuestion; answer: NamesAnswer };
  complete: { question: CompleteQuestion; answer: CompleteAnswer };
  members: { question: MembersQuestion; answer: MembersAnswer };
  pivot: { question: PivotQuestion; answer: PivotAnswer };
  construct: { question: ConstructQuestion; answer: NetworkAnswer };
  layout: { question: LayoutQuestion; answer: LayoutAnswer };
  explain: { question: ExplainQuestion; answer: ExplainAnswer };
  without: { question: WithoutQuestion; answer: ChangeAnswer };
  contrast: { question: ContrastQuestion; answer: ContrastAnswer };
  drill: { question: DrillQuestion; answer: DrillAnswer };
  compare: { question: CompareQuestion; answer: CompareAnswer };
}
