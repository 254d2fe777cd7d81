// Opening data: files, the data step, and the button that builds the cube.
import "./base.css";
import "./opening.css";
import { refusalOf, stopped, type Client } from "./client";
import { DIMENSION, type Corrections, type Wish } from "./column_roles";
import { corrections } from "./corrections";
import { counted, el, fill, number } from "./dom";
import { drawing } from "./header";
import { readingOf } from "./reading";
import { plain, sentence } from "./words";
import type { OpenAnswer, OpenRequest, ProgressSchema, SheetSchema, StartAnswer, TablesAnswer } from "./types";

const LOCAL = ["127.0.0.1", "localhost", "[::1]"];
const CUBE = "M10 1.5 17.5 5.75v8.5L10 18.5 2.5 14.25v-8.5Z M2.5 5.75 10 10l7.5-4.25 M10 10v8.5";

/** Where chosen files go: they stay on this computer if the page comes from it. */
export function whereFilesGo(host: string): string {
  if (LOCAL.includes(host)) return "The files stay on this computer: the program that reads them runs here, and nothing is sent elsewhere.";
  return `The files are sent to the program that reads them, at ${host}, without encryption, and nowhere else.`;
}

/** When a cube was built, in the format of this computer. */
export const whenMade = (seconds: number): string => new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Shows the choice of data in an element; `opened` is called with the result. */
export function showOpening(root: HTMLElement, client: Client, can: StartAnswer, opened: (answer: OpenAnswer) => void): void {
  let files: string[] = [];
  let said: Corrections = {};
  /** The last corrections that could be read, and their answer; kept if a choice is refused. */
  let good: { said: Corrections; answer: TablesAnswer } | null = null;
  /** The sheets of a workbook, as listed before one was chosen. */
  let sheets: readonly SheetSchema[] = [];
  /** Whether chosen files are added to the others or replace them. */
  let adding = false;
  let looks = 0;
  let work: AbortController | null = null;

  const input = el("input", { type: "file", multiple: true, accept: can.endings.join(","), hidden: true, "data-do": "files" });
  const choose = el("button", { type: "button", class: "primary", "data-do": "choose", onclick: () => ((adding = false), input.click()) }, "Choose a data file");
  const area = el(
    "section",
    { class: "drop" },
    choose,
    input,
    el("p", { class: "quiet" }, "or drop it here: a table (Excel, CSV, Parquet), a table of people with a table of their links, citation exports (RIS, BibTeX, PubMed, Web of Science, Scopus), or GraphML."),
    el("p", { class: "small quiet" }, whereFilesGo(location.hostname)),
  );
  const trouble = el("p", { class: "bad", role: "alert", hidden: true });
  const stage = el("span", {}, "");
  const bar = el("progress", { "aria-label": "Progress" });
  const going = el("div", { class: "going", hidden: true }, el("div", { class: "row" }, stage, el("button", { type: "button", "data-do": "stop", onclick: () => work?.abort() }, "Stop")), bar);
  const preview = el("section", { class: "preview", hidden: true });
  const others = el("section", { class: "others" });

  /** Runs long work with a progress bar and a Stop button; returns null if it was stopped or refused. */
  async function doing<T>(what: string, does: (how: { signal: AbortSignal; progress: (told: ProgressSchema) => void }) => Promise<T>): Promise<T | null> {
    work?.abort();
    const mine = new AbortController();
    work = mine;
    trouble.hidden = true;
    going.hidden = false;
    root.dataset.busy = "true";
    stage.textContent = what;
    bar.removeAttribute("value");
    const progress = ({ stage: name, done, total }: ProgressSchema): void => {
      stage.textContent = `${what}: ${name}`;
      if (total && total > 1) Object.assign(bar, { max: total, value: done });
      else bar.removeAttribute("value");
    };
    try {
      return await does({ signal: mine.signal, progress });
    } catch (error) {
      if (!stopped(error)) {
        trouble.textContent = sentence(plain(refusalOf(error).sentence), files);
        trouble.hidden = false;
      }
      return null;
    } finally {
      if (work === mine) {
        work = null;
        going.hidden = true;
        delete root.dataset.busy;
      }
    }
  }

  /** Uploads files, beside the others or in their place; if none can be uploaded, the others stay. */
  async function take(given: readonly File[], beside: boolean): Promise<void> {
    const upload = client.upload;
    if (given.length === 0 || upload === undefined) return;
    const size = given.reduce((sum, { size: bytes }) => sum + bytes, 0);
    if (size > can.bytes) {
      trouble.textContent = `These files have ${number(size)} bytes; at most ${number(can.bytes)} can be opened here. The command cube2net build tables reads larger ones.`;
      trouble.hidden = false;
      return;
    }
    const names: string[] = [];
    const kept = beside ? files : [];
    const done = await doing("Reading", async ({ signal }) => {
      for (const file of given) {
        const { name } = await upload(file, [...kept, ...names], { signal });
        names.push(name);
      }
      return true;
    });
    if (done === null && names.length === 0) return;
    const before = files;
    files = [...new Set([...kept, ...names])];
    for (const name of before) if (!files.includes(name)) takeBack(name);
    said = {};
    good = null;
    sheets = [];
    await look(null);
  }

  async function look(wish: Wish | null): Promise<void> {
    const mine = (looks += 1);
    if (files.length === 0) {
      preview.hidden = true;
      return;
    }
    const answer = await doing("Reading the files", (how) => client.ask("tables", { files, ...said }, how));
    if (mine !== looks) return;
    const group = answer === null || wish?.what !== DIMENSION ? undefined : answer.choices.find(({ column, dimension, chosen }) => column === wish.column && dimension !== "" && !chosen);
    if (answer !== null && group !== undefined && good !== null && !(said.dimensions ?? []).includes(group.dimension)) {
      // A column can become a group only after its previous role was removed.
      said = { ...said, dimensions: [...answer.choices.filter(({ chosen }) => chosen).map(({ dimension }) => dimension), group.dimension] };
      return look(wish);
    }
    if (answer !== null && (sheets.length === 0 || said.sheet === undefined)) sheets = answer.sheets;
    if (answer !== null) {
      good = { said, answer };
      saveDraft({ files, said, sheets });
    }
    else if (good !== null) said = good.said;
    draw(answer ?? good?.answer ?? null, answer === null ? null : wish);
  }

  function draw(answer: TablesAnswer | null, wish: Wish | null): void {
    const chips = files.map((name) =>
      el("span", { class: "chip" }, name, el("button", { type: "button", class: "bare", "aria-label": `Without ${name}`, onclick: () => drop(name) }, "×")),
    );
    const keep = el("input", { type: "checkbox", checked: can.keeps, disabled: !can.keeps, "data-do": "keep" });
    const more = el("button", { type: "button", class: "bare", onclick: () => ((adding = true), input.click()) }, "Add another file");
    const make = el("button", { type: "button", class: "primary", "data-do": "make-cube", onclick: () => (saveDraft({ files, said, sheets }), void open({ files, ...said, keep: keep.checked })) }, "Build the cube");
    preview.hidden = false;
    area.classList.add("taken");
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.getAttribute("aria-label") : null;
    fill(
      preview,
      el("div", { class: "row" }, ...chips, more),
      answer ? el("h2", {}, "Check the columns") : null,
      answer ? el("p", { class: "small quiet" }, "Objects with the same values in the group columns are put together. All these groups are called the cube.") : null,
      answer ? corrections(answer, sheets, said, wish, { changed: (now, wished) => ((said = now), void look(wished)), ready: (is) => (make.disabled = !is) }) : null,
      answer ? el("details", {}, el("summary", {}, "All columns, what was left out, and how it was read"), readingOf(answer.read)) : null,
      answer ? el("div", { class: "act row" }, make, el("label", { class: "row small" }, keep, el("span", {}, can.keeps ? `keep it in the folder ${can.folder}, to open it again` : "the cube is lost when the program ends, because the folder cannot be written to"))) : null,
    );
    const again = [...preview.querySelectorAll<HTMLElement>("[aria-label]")].find((each) => focused !== null && each.getAttribute("aria-label") === focused);
    if (answer) (again ?? make).focus({ preventScroll: true });
  }

  function drop(name: string): void {
    files = files.filter((other) => other !== name);
    takeBack(name);
    said = {};
    good = null;
    sheets = [];
    if (files.length === 0) area.classList.remove("taken");
    trouble.hidden = true;
    void look(null);
  }

  function takeBack(name: string): void {
    void client.takeBack?.(name).catch(() => undefined);
  }

  async function open(body: OpenRequest): Promise<void> {
    const answer = await doing("Building the cube", (how) => client.ask("open", body, how));
    if (answer) opened(answer);
  }

  fill(
    others,
    can.recent.length > 0 ? el("h2", {}, `Opened before, in the folder ${can.folder}`) : null,
    el(
      "ul",
      { class: "plain" },
      ...can.recent.map(({ name, objects, cells, files: of, made }) =>
        el(
          "li",
          {},
          el("button", { type: "button", class: "link", "data-recent": name, onclick: () => void open({ recent: name }) }, name),
          el("span", { class: "small quiet" }, ` ${counted(objects, "object")}, ${counted(cells, "cell")}${of.length > 0 ? `, from ${of.join(", ")}` : ""}, built ${whenMade(made)}`),
        ),
      ),
    ),
    el("h2", {}, "No file at hand?"),
    el(
      "p",
      {},
      el("button", { type: "button", "data-do": "example", onclick: () => void open({ example: true, keep: can.keeps }) }, "Try the example"),
      el("span", { class: "small quiet" }, ` ${can.example}; building it takes about a minute, once.`),
    ),
  );
  input.addEventListener("change", () => void take([...(input.files ?? [])], adding).finally(() => ((input.value = ""), (adding = false))));
  root.addEventListener("dragover", (event) => {
    event.preventDefault();
    area.classList.add("dropping");
  });
  root.addEventListener("dragleave", () => area.classList.remove("dropping"));
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("dropping");
    void take([...(event.dataTransfer?.files ?? [])], good !== null);
  });
  root.classList.add("c2n");
  fill(
    root,
    el(
      "main",
      { class: "opening" },
      el("header", { class: "row" }, drawing("0 0 20 20", 30, CUBE), el("h1", {}, "cube2net")),
      el("p", {}, "Builds a small network from a table: the people or things you name, their closest neighbours, and the groups they share."),
      area,
      trouble,
      going,
      preview,
      others,
    ),
  );
  const draft = loadDraft();
  if (draft !== null && draft.files.length > 0 && draft.files.every((name) => can.uploaded.includes(name))) {
    ({ files, said, sheets } = draft);
    void look(null);
  }
}

/** The last files and their corrections, which are shown again on return to the data step. */
interface OpeningDraft {
  files: string[];
  said: Corrections;
  sheets: readonly SheetSchema[];
}
const DRAFT = "cube2net-opening";

function saveDraft(draft: OpeningDraft): void {
  try {
    sessionStorage.setItem(DRAFT, JSON.stringify(draft));
  } catch {
    // If the browser stores nothing, the data step starts empty.
  }
}

function loadDraft(): OpeningDraft | null {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFT) ?? "null") as OpeningDraft | null;
  } catch {
    return null;
  }
}
