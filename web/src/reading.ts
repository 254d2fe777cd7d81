// What was read of a file: roles of columns with reasons, what was left out, and notes.
import "./reading.css";
import { counted, el, number } from "./dom";
import type { Store } from "./state";
import type { ReadingSchema } from "./types";
import { describeDimensions, plain, sentence } from "./words";

export function mountReading(root: HTMLElement, { cube }: Store): void {
  if (cube.read) root.append(readingOf(cube.read));
}

/** A reading as tables and sentences. */
export function readingOf(read: ReadingSchema): HTMLElement {
  const links = read.links === null ? "linked if a record names both" : counted(read.links, "link");
  const left = read.left_out.map(({ reason, count }) => el("li", {}, `${number(count)} ${reason}`));
  return el(
    "div",
    { class: "reading" },
    el("p", {}, el("strong", {}, read.files.join(", ")), `: ${counted(read.objects, "object")}, ${links}.`),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...["Column", "Read as", "Why"].map((title) => el("th", { scope: "col" }, title)))),
        el(
          "tbody",
          {},
          ...read.columns.map(({ table, column, what, why, is_used }) =>
            el(
              "tr",
              { "data-column": column },
              el("th", { scope: "row" }, el("bdi", {}, column), table === "" ? "" : el("span", { class: "quiet small" }, ` ${table}`)),
              el("td", { class: is_used ? null : "quiet" }, what),
              el("td", { class: "small quiet" }, why),
            ),
          ),
        ),
      ),
    ),
    el("p", {}, `Groups (cells) of ${describeDimensions(read.dimensions)}, each with at least ${counted(read.min_objects, "object")}. ${sentence(read.reason)}`),
    el("h3", {}, "Left out"),
    left.length > 0 ? el("ul", {}, ...left) : el("p", { class: "quiet" }, "Nothing."),
    el("h3", {}, "How it was read"),
    el("ul", { class: "small" }, ...read.said.map((line) => el("li", {}, plain(line)))),
  );
}
