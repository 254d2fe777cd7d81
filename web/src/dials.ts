// A number with a slider and a field, or automatic.
import { el, number as written } from "./dom";

export interface Dial {
  element: HTMLElement;
  /** Shows the requested value (null: automatic), the value in use, and the maximum of the slider. */
  show(asked: number | null, taken: number | null, most: number, auto?: string): void;
  /** Shows a note below, or none. */
  tell(text: string): void;
}

export interface DialWords {
  name: string;
  title: string;
  /** The text while the value is automatic. */
  auto: string;
  least: number;
}

const PAUSE = 100;

export function dial({ name, title, auto: standard, least }: DialWords, moved: (value: number | null, settled: boolean) => void): Dial {
  const range = el("input", { type: "range", min: least, step: 1, "aria-label": `${title}, slider`, "data-slide": name });
  const typed = el("input", { type: "number", min: least, step: 1, "aria-label": title, "data-number": name });
  const said = el("span", { class: "small quiet" });
  const reset = el("button", { type: "button", class: "bare small", "data-auto": name }, "Reset");
  const told = el("p", { class: "small quiet", hidden: true, role: "status" });
  let timer = 0;

  const slide = (): void => {
    typed.value = range.value;
    if (timer) return;
    timer = window.setTimeout(() => {
      timer = 0;
      moved(Number(range.value), false);
    }, PAUSE);
  };
  const settle = (): void => {
    clearTimeout(timer);
    timer = 0;
    moved(Number(range.value), true);
  };
  range.addEventListener("input", slide);
  range.addEventListener("change", settle);
  typed.addEventListener("change", () => {
    if (typed.value.trim() === "") moved(null, true);
    else if (typed.validity.valid) moved(typed.valueAsNumber, true);
    else typed.reportValidity();
  });
  reset.addEventListener("click", () => moved(null, true));

  const element = el(
    "div",
    { class: "dial" },
    el("div", { class: "row between" }, el("span", {}, title), el("span", { class: "row" }, said, reset)),
    el("div", { class: "row" }, range, typed),
    told,
  );
  return {
    element,
    tell(text) {
      told.textContent = text;
      told.hidden = text === "";
    },
    show(asked, taken, most, auto = standard) {
      const value = asked ?? taken;
      range.max = String(Math.max(most, value ?? least, least + 1));
      if (document.activeElement !== typed) typed.value = asked === null ? "" : String(asked);
      typed.placeholder = taken === null ? "auto" : String(taken);
      if (value !== null && timer === 0) range.value = String(value);
      said.textContent = asked === null ? auto : "";
      said.hidden = asked !== null;
      reset.hidden = asked === null;
      reset.setAttribute("aria-label", `Leave ${title.toLowerCase()} to the program`);
      reset.title = taken === null ? auto : `${auto}: ${written(taken)}`;
      element.classList.toggle("auto", asked === null);
    },
  };
}
