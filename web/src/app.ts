// The frame of the page: query, settings and export on the left, the network in the middle, explanations on the right.
import "./base.css";
import "./frame.css";
import { mountAsk } from "./ask";
import { mountCells } from "./cells";
import { mountContrast } from "./contrast";
import { counted, el, number } from "./dom";
import { mountProgress } from "./progress_card";
import { mountRefusal } from "./refusal_card";
import { mountNetwork } from "./graph";
import { drawing, mountHeader } from "./header";
import { mountKeep } from "./keep";
import { mountPivot } from "./pivot";
import { mountReading } from "./reading";
import type { Mount, Store } from "./state";
import { mountSteer } from "./steer";
import { tabs } from "./tabs";
import { mountWhy } from "./why";

/** Mounts the explorer of a store in an element, for the page and the notebook widget. Returns a function that ends it. */
export function mount(root: HTMLElement, store: Store): () => void {
  root.classList.add("c2n");
  const life = new AbortController();
  const ended = life.signal;
  const tab = (name: string, title: string, part: Mount) => ({ name, title, mount: (panel: HTMLElement) => part(panel, store, ended) });
  const head = el("header", { class: "head" });
  const failed = el("div");
  const welcome = el("section", { class: "welcome" });
  const left = tabs("Query, settings, save", [tab("ask", "Query", mountAsk), tab("steer", "Settings", mountSteer), tab("keep", "Save", mountKeep)]);
  const stage = tabs("Network and cube", [
    tab("network", "Network", mountNetwork),
    tab("cube", "Cube", mountPivot),
    ...(store.cube.read ? [tab("read", "What was read", mountReading)] : []),
  ]);
  const right = tabs("Reasons", [tab("why", "Why", mountWhy), tab("cells", "Cells", mountCells), tab("against", "Compare", mountContrast)]);
  stage.element.classList.add("stage");
  left.element.classList.add("left");
  right.element.classList.add("right");
  const middle = el("main", { class: "middle" }, failed, stage.element, welcome);
  root.replaceChildren(el("div", { class: "frame" }, head, middle, left.element, right.element));
  mountHeader(head, store, ended);
  mountRefusal(failed, store, ended);
  mountProgress(middle, store, ended);
  drawWelcome(welcome, store, () => (stage.show("read"), draw()));
  left.show("ask");
  stage.show("network");
  right.show("cells");

  const draw = (): void => {
    root.dataset.phase = store.network || store.busy ? store.phase : "empty";
    welcome.hidden = store.network !== null || store.busy !== null || stage.shown !== "network";
    middle.classList.toggle("welcoming", !welcome.hidden);
  };
  stage.element.addEventListener("click", draw);
  stage.element.addEventListener("keyup", draw);
  store.subscribe((changed) => {
    draw();
    if (changed.has("selected") && store.selected && !right.element.contains(document.activeElement)) {
      right.show("why");
      // On a small screen the explanations are below the network; a tap scrolls to them.
      if (right.element.getBoundingClientRect().top > innerHeight - 120) right.element.scrollIntoView({ block: "start", behavior: "smooth" });
    }
  }, ended);
  draw();
  return () => life.abort();
}

function drawWelcome(root: HTMLElement, { cube }: Store, showRead: () => void): void {
  root.append(
    drawing("0 0 20 20", 44, "M10 1.5 17.5 5.75v8.5L10 18.5 2.5 14.25v-8.5Z M2.5 5.75 10 10l7.5-4.25 M10 10v8.5"),
    el("h2", {}, "Whose network?"),
    el("p", {}, "Enter the objects you care about: people, papers, companies or whatever your data lists. They are the query. You get a small network of them, their closest neighbours and the groups they share. A group of objects with the same labels, such as one venue and one year, is called a cell; all cells together form the cube."),
    el(
      "p",
      { class: "facts" },
      ...[
        [number(cube.objects), "objects"],
        [number(cube.links), "links"],
        [number(cube.cells), "cells"],
      ].map(([many, what]) => el("span", {}, el("strong", {}, many), ` ${what}`)),
      el("span", {}, cube.dimensions.map(({ name, levels }) => `${name} (${counted(levels[0]?.labels ?? 0, "label")})`).join(" × ")),
    ),
    cube.attribution ? el("p", { class: "small quiet" }, cube.attribution) : "",
    cube.read
      ? el(
          "p",
          {},
          "Type or paste names on the left, or open “Start from cells” to take the objects of a cell. ",
          el("button", { type: "button", class: "link", "data-do": "show-read", onclick: showRead }, `What was read of ${cube.read.files.join(", ")}`),
        )
      : "",
  );
}
