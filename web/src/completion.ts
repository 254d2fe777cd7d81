// Completion of a field: a list of suggestions, with ↑, ↓, Enter, Tab, Escape and clicks.
import { refusalOf, stopped } from "./client";
import { el, fill, freshId } from "./dom";

export interface Option {
  text: string;
  about?: string;
  take: () => void;
}

type Field = HTMLInputElement | HTMLTextAreaElement;
const PAUSE = 90;

export interface Completing {
  /** Returns the word at the cursor; by default the whole field. */
  word?: () => string;
  /** Whether ↓ or a click opens the list of an empty field. */
  eager?: boolean;
  /** Whether Enter leaves a complete name to the field, which looks up all objects of that name. */
  whole?: boolean;
  /** Called if Enter was pressed before the list came and nothing was found. */
  missing?: (text: string) => void;
}

/** Wraps a field in a box with its list; `find` returns the suggestions for the word at the cursor. */
export function completing(
  field: Field,
  find: (text: string, signal: AbortSignal) => Promise<Option[]>,
  { word = () => field.value.trim(), eager = false, whole = false, missing }: Completing = {},
): HTMLElement {
  const list = el("ul", { role: "listbox", id: freshId("options"), hidden: true, "aria-label": "Suggestions" });
  let options: Option[] = [];
  let active = -1;
  /** The word that the list is for. */
  let listed = "";
  let timer = 0;
  let flight: AbortController | null = null;

  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("autocomplete", "off");
  field.spellcheck = false;

  function close(): void {
    clearTimeout(timer);
    flight?.abort();
    options = [];
    active = -1;
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function take(option: Option | undefined): void {
    close();
    option?.take();
  }

  function mark(to: number): void {
    active = to;
    [...list.children].forEach((row, place) => row.setAttribute("aria-selected", String(place === to)));
    const row = list.children[to];
    if (!row) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", row.id);
    row.scrollIntoView({ block: "nearest" });
  }

  async function look(): Promise<void> {
    flight?.abort();
    const text = word();
    if (text === "" && !eager) return close();
    flight = new AbortController();
    const { signal } = flight;
    try {
      const found = await find(text, signal);
      if (signal.aborted || document.activeElement !== field || word() !== text) return;
      options = found;
      listed = text;
    } catch (error) {
      if (signal.aborted) return; // a later request is under way, and closing would end that one
      if (!stopped(error)) console.warn(refusalOf(error).sentence);
      return close();
    }
    if (options.length === 0) return close();
    fill(
      list,
      ...options.map((option, place) =>
        el(
          "li",
          {
            role: "option",
            id: `${list.id}-${place}`,
            "aria-selected": "false",
            onpointerdown: (event: Event) => event.preventDefault(),
            onclick: () => take(option),
          },
          option.text,
          option.about ? el("span", { class: "about" }, option.about) : null,
        ),
      ),
    );
    active = -1;
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    field.removeAttribute("aria-activedescendant");
  }

  /** Accepts the typed text before its list is there: the exact name, else the first suggestion. */
  async function takeTyped(unknown: (text: string) => void): Promise<void> {
    close();
    const text = word();
    flight = new AbortController();
    const { signal } = flight;
    const found = await find(text, signal).catch(() => []);
    if (signal.aborted || word() !== text) return;
    const option = found.find((each) => each.text.toLowerCase() === text.toLowerCase()) ?? found[0];
    if (option) take(option);
    else unknown(text);
  }

  /** Whether Enter is left to the field: no suggestion is marked, and the text is a complete name. */
  const isWhole = (): boolean => whole && active < 0 && options.some(({ text }) => text.toLowerCase() === word().toLowerCase());

  field.addEventListener("input", () => {
    clearTimeout(timer);
    if (word() === "" && !eager) return close();
    timer = window.setTimeout(() => void look(), PAUSE);
  });
  field.addEventListener("blur", close);
  if (eager) field.addEventListener("click", () => list.hidden && void look());
  field.addEventListener("keydown", (given) => {
    const event = given as KeyboardEvent;
    if (event.isComposing) return;
    if (list.hidden && event.key === "ArrowDown" && field.tagName === "INPUT") return void look();
    if (event.key === "Enter" && missing && word() !== "" && active < 0 && (list.hidden || listed !== word())) {
      event.preventDefault();
      return void takeTyped(missing);
    }
    if (event.key === "Enter" && (list.hidden || event.ctrlKey || event.metaKey || isWhole())) return close();
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) mark((active + step + options.length + (active < 0 && step < 0 ? 1 : 0)) % options.length);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter") take(options[Math.max(active, 0)]);
    else if (event.key === "Tab" && !event.shiftKey && word() !== "") take(options[Math.max(active, 0)]);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  return el("div", { class: "combo" }, field, list);
}
