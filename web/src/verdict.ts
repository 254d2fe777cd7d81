// The verdict: does the network help the next step? A comparison with progress, its scores, and its report.
import { refusalOf, stopped } from "./client";
import { counted, el, fill, number } from "./dom";
import type { Store } from "./state";
import type { CompareAnswer } from "./types";
import { measureLine, sentence } from "./words";

/** Runs the comparison with progress, and links to its report. */
export function verdict(store: Store, ended: AbortSignal): HTMLElement {
  const { limits } = store.cube;
  const runs = el("input", { type: "number", min: limits.least_runs, max: limits.most_runs, step: 1, placeholder: limits.runs, "aria-label": "Runs" });
  const task = el(
    "select",
    { "aria-label": "Judged by" },
    el("option", { value: "" }, "what the query has"),
    el("option", { value: "clustering" }, "its labels"),
    el("option", { value: "hidden" }, "hidden links"),
  );
  const go = el("button", { type: "button", "data-do": "compare" }, "Judge this network");
  const stop = el("button", { type: "button", hidden: true, "data-do": "stop-compare" }, "Stop");
  const stage = el("p", { class: "small quiet", role: "status", "aria-live": "polite" });
  const bar = el("progress", { hidden: true, "aria-label": "Progress of the comparison" });
  const outcome = el("div", { class: "outcome", "data-verdict": "" });
  const stale = el("p", { class: "small quiet", hidden: true }, "For the network before the last change:");
  let flight: AbortController | null = null;
  let judged = "";

  async function run(): Promise<void> {
    if (!runs.reportValidity()) return;
    // The verdict is for the network shown now, even if another one is shown when it arrives.
    const { request, fingerprint } = store.network ?? { request: store.request, fingerprint: "" };
    flight = new AbortController();
    go.disabled = true;
    stop.hidden = false;
    bar.hidden = false;
    bar.removeAttribute("value");
    fill(outcome);
    stage.textContent = "Starting…";
    try {
      const body = { request, task: (task.value || null) as "clustering" | "hidden" | null, ...(runs.value ? { runs: runs.valueAsNumber } : {}) };
      const answer = await store.client.ask("compare", body, {
        signal: flight.signal,
        progress: ({ stage: at, done, total }) => {
          stage.textContent = total ? `${at}: ${done} of ${total}` : at;
          if (total) Object.assign(bar, { max: total, value: done });
          else bar.removeAttribute("value");
        },
      });
      stage.textContent = "";
      show(answer, fingerprint);
    } catch (error) {
      stage.textContent = stopped(error) ? "Stopped." : sentence(refusalOf(error).sentence);
    } finally {
      flight = null;
      go.disabled = false;
      stop.hidden = true;
      bar.hidden = true;
    }
  }

  function show(answer: CompareAnswer, fingerprint: string): void {
    const address = store.client.report(answer);
    judged = fingerprint;
    fill(
      outcome,
      stale,
      el("p", { class: "plainly" }, plainVerdict(answer)),
      el("p", { class: "small" }, sentence(answer.sentence)),
      scoreTable(answer.table as unknown as ComparedRow[]),
      measureList(answer.table as unknown as ComparedRow[]),
      address ? el("a", { href: address, target: "_blank", rel: "noopener", class: "button" }, "Open the report") : null,
      answer.note ? el("p", { class: "small quiet" }, sentence(answer.note)) : null,
    );
    age();
    outcome.scrollIntoView({ block: "nearest" });
  }

  const age = (): void => {
    stale.hidden = judged === (store.network?.fingerprint ?? "");
  };
  store.subscribe((changed) => changed.has("network") && age(), ended);
  ended.addEventListener("abort", () => flight?.abort());
  go.addEventListener("click", () => void run());
  stop.addEventListener("click", () => flight?.abort());
  return el(
    "section",
    {},
    el("h2", {}, "Verdict"),
    el("p", { class: "small quiet" }, "Does this network help the next step, such as finding groups or predicting links? It is compared with the query alone and with other networks of its size. This takes a while."),
    el("label", { class: "field" }, el("span", {}, "Judged by"), task),
    el("label", { class: "field" }, el("span", {}, "Runs"), runs),
    el("div", { class: "row" }, go, stop),
    bar,
    stage,
    outcome,
  );
}

/** The verdict in one plain line. */
export function plainVerdict({ finding }: Pick<CompareAnswer, "finding">): string {
  return PLAINLY[finding];
}

const PLAINLY: Record<CompareAnswer["finding"], string> = {
  helps: "It helps: significantly better than the query alone (95 % confidence).",
  maybe: "Undecided: better than the query alone, but not significantly (95 % confidence).",
  level: "It does not help: the query alone does as well or better.",
  few: "Undecided: there are too few links or runs to tell.",
  nothing: "Undecided: nothing could be compared with the query alone.",
};

/** Explanations of the measures of a table. */
function measureList(rows: readonly ComparedRow[]): HTMLElement {
  const measures = [...new Set(rows.flatMap(({ scores }) => scores.map(({ measure }) => measure)))];
  return el("ul", { class: "small quiet" }, ...measures.flatMap((measure) => (measureLine(measure) === "" ? [] : [el("li", {}, `${measure}: ${measureLine(measure)}.`)])));
}

/** One network of a comparison: its size and its scores, or why there is none. */
interface ComparedRow {
  network: string;
  nodes: number | null;
  links: number | null;
  scores: { model: string; measure: string; mean: number; low: number; high: number; runs: number }[];
  reason: string;
}

/** A name on a line of its own above the numbers, so that the table fits a narrow panel. */
function scoreTable(rows: readonly ComparedRow[]): HTMLElement {
  const models = new Set(rows.flatMap(({ scores }) => scores.map(({ model }) => model)));
  const name = (score: ComparedRow["scores"][number]): string => (models.size > 1 ? `${score.measure}, ${score.model}` : score.measure);
  const measures = [...new Set(rows.flatMap(({ scores }) => scores.map(name)))];
  const best = new Map(measures.map((measure) => [measure, Math.max(...rows.flatMap(({ scores }) => scores.filter((one) => name(one) === measure).map(({ mean }) => mean)))]));
  const figure = (row: ComparedRow, measure: string): HTMLElement => {
    const score = row.scores.find((one) => name(one) === measure);
    if (!score) return el("td", { class: "number" }, "–");
    const text = score.mean.toFixed(3);
    return el("td", { class: "number", title: `${score.low.toFixed(3)} to ${score.high.toFixed(3)}, ${counted(score.runs, "run")}` }, score.mean === best.get(measure) ? el("strong", {}, text) : text);
  };
  return el(
    "div",
    { class: "scroll" },
    el(
      "table",
      { class: "scores" },
      el("thead", {}, el("tr", {}, ...["nodes", "links", ...measures].map((title) => el("th", { scope: "col", class: "number", title: measureLine(title) || null }, title)))),
      ...rows.map((row) =>
        el(
          "tbody",
          {},
          el("tr", {}, el("th", { scope: "rowgroup", colspan: measures.length + 2 }, row.network)),
          row.reason
            ? el("tr", {}, el("td", { colspan: measures.length + 2, class: "quiet" }, sentence(row.reason)))
            : el("tr", {}, ...[row.nodes, row.links].map((many) => el("td", { class: "number" }, many === null ? "–" : number(many))), ...measures.map((measure) => figure(row, measure))),
        ),
      ),
    ),
  );
}
