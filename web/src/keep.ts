// Keep: files, the recipe, the command line, Python, the address, and the verdict.
import "./keep.css";
import type { ExportedFile } from "./client";
import { refusalOf, stopped } from "./client";
import { el, fill } from "./dom";
import { sentence } from "./gate";
import type { Store } from "./state";
import type { CompareAnswer } from "./types";

const PICTURES = ["svg", "png", "pdf", "html"];
const WORDS: [format: string, title: string][] = [
  ["command.txt", "Command line"],
  ["python.txt", "Python"],
];

export function mountKeep(root: HTMLElement, store: Store): void {
  root.classList.add("keep", "pad");
  const none = el("p", { class: "quiet" }, "Make a network first; then it can be kept.");
  const told = el("p", { class: "small bad", role: "status", "aria-live": "polite" });
  const body = el("div", { class: "keep" });
  const { exports } = store.cube;
  const pictures = exports.filter((ending) => PICTURES.includes(ending));
  const files = exports.filter((ending) => !PICTURES.includes(ending));
  const download = (format: string, title = format): HTMLElement => {
    const button = el("button", { type: "button", "data-export": format }, title);
    button.addEventListener("click", () => void save(format, button));
    return button;
  };

  async function save(format: string, button: HTMLButtonElement): Promise<void> {
    told.textContent = "";
    button.disabled = true;
    try {
      hand(await store.client.file({ ask: store.ask, format }));
    } catch (error) {
      told.textContent = sentence(refusalOf(error).sentence);
    } finally {
      button.disabled = false;
    }
  }

  const words = WORDS.map(([format, title]) => {
    const pre = el("pre", { tabindex: 0, "aria-label": title, "data-words": format });
    const copy = copying(() => pre.textContent ?? "", `Copy ${title.toLowerCase()}`);
    return { format, pre, element: el("section", {}, el("div", { class: "row between" }, el("h2", {}, title), copy), pre) };
  });
  let shown = "";
  async function write(): Promise<void> {
    const network = store.network;
    if (!network || shown === network.fingerprint + JSON.stringify(network.ask)) return;
    shown = network.fingerprint + JSON.stringify(network.ask);
    for (const { format, pre } of words) {
      try {
        const { bytes } = await store.client.file({ ask: network.ask, format });
        if (store.network === network) pre.textContent = new TextDecoder().decode(bytes).trimEnd();
      } catch (error) {
        pre.textContent = sentence(refusalOf(error).sentence);
      }
    }
  }

  body.append(
    el(
      "section",
      { class: "address" },
      el("h2", {}, "Address"),
      el("p", { class: "small quiet" }, "The address of this page is the recipe: whoever opens it with the same cube has the same network."),
      el("div", { class: "row" }, copying(() => location.href, "Copy address", "Copy address")),
    ),
    el("section", {}, el("h2", {}, "Picture"), el("div", { class: "buttons" }, ...pictures.map((ending) => download(ending)))),
    el("section", {}, el("h2", {}, "Network"), el("div", { class: "buttons" }, ...files.map((ending) => download(ending)))),
    el(
      "section",
      {},
      el("h2", {}, "Recipe and query"),
      el("div", { class: "buttons" }, download("recipe.json"), download("query.csv")),
    ),
    ...words.map(({ element }) => element),
    verdict(store),
  );
  root.append(none, told, body);
  const draw = (): void => {
    none.hidden = store.network !== null;
    body.hidden = store.network === null;
    if (root.hidden) return;
    void write();
  };
  new MutationObserver(draw).observe(root, { attributes: true, attributeFilter: ["hidden"] });
  store.subscribe((changed) => changed.has("network") && draw());
  draw();
}

/** Gives a file to the person. */
export function hand({ name, media_type, bytes }: ExportedFile): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: media_type }));
  const link = el("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function copying(text: () => string, label: string, title = "Copy"): HTMLButtonElement {
  const button = el("button", { type: "button", class: title === "Copy" ? "bare small" : null, "aria-label": label }, title);
  button.addEventListener("click", async () => {
    const done = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false,
    );
    button.textContent = done ? "Copied" : "Select and copy by hand";
    setTimeout(() => (button.textContent = title), 1600);
  });
  return button;
}

/** Does the network help? Runs the comparison, tells how far it is, and links to its report. */
function verdict(store: Store): HTMLElement {
  const runs = el("input", { type: "number", min: 2, max: 50, step: 1, placeholder: "10", "aria-label": "Runs" });
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
  let flight: AbortController | null = null;

  async function run(): Promise<void> {
    flight = new AbortController();
    go.disabled = true;
    stop.hidden = false;
    bar.hidden = false;
    bar.removeAttribute("value");
    fill(outcome);
    stage.textContent = "Beginning …";
    const { ask } = store;
    try {
      const question = { ask, task: (task.value || null) as "clustering" | "hidden" | null, ...(runs.value ? { runs: runs.valueAsNumber } : {}) };
      const answer = await store.client.ask("compare", question, {
        signal: flight.signal,
        progress: ({ stage: at, done, total }) => {
          stage.textContent = total ? `${at}: ${done} of ${total}` : at;
          if (total) Object.assign(bar, { max: total, value: done });
          else bar.removeAttribute("value");
        },
      });
      stage.textContent = "";
      show(answer);
    } catch (error) {
      stage.textContent = stopped(error) ? "Stopped." : sentence(refusalOf(error).sentence);
    } finally {
      flight = null;
      go.disabled = false;
      stop.hidden = true;
      bar.hidden = true;
    }
  }

  function show(answer: CompareAnswer): void {
    const columns = [...new Set(answer.table.flatMap((row) => Object.keys(row)))];
    const address = store.client.report(answer);
    fill(
      outcome,
      el("p", {}, sentence(answer.sentence)),
      el(
        "div",
        { class: "scroll" },
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)))),
          el("tbody", {}, ...answer.table.map((row) => el("tr", {}, ...columns.map((name) => cell(row[name]))))),
        ),
      ),
      address ? el("a", { href: address, target: "_blank", rel: "noopener", class: "button" }, "Open the report") : null,
    );
  }

  go.addEventListener("click", () => void run());
  stop.addEventListener("click", () => flight?.abort());
  return el(
    "section",
    {},
    el("h2", {}, "Verdict"),
    el("p", { class: "small quiet" }, "Does this network help the next step, against the query alone and others of its size? This takes a while."),
    el("label", { class: "field" }, el("span", {}, "Judged by"), task),
    el("label", { class: "field" }, el("span", {}, "Runs"), runs),
    el("div", { class: "row" }, go, stop),
    bar,
    stage,
    outcome,
  );
}

function cell(value: unknown): HTMLElement {
  if (typeof value === "number") return el("td", { class: "number" }, Number.isInteger(value) ? String(value) : value.toFixed(3));
  return el("td", {}, value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
}
