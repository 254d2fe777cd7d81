// Tabs: a row of buttons, each with a panel, moved through by arrow keys.
import { el, freshId } from "./dom";

export interface Tab {
  name: string;
  title: string;
  /** Fills the panel when it is first shown. */
  mount: (panel: HTMLElement) => void;
}

export interface Tabs {
  element: HTMLElement;
  readonly shown: string;
  show(name: string): void;
}

export function tabs(label: string, entries: readonly Tab[]): Tabs {
  const stem = freshId("tab");
  const mounted = new Set<string>();
  let shown = "";
  const panels = new Map(
    entries.map(({ name }) => [
      name,
      el("div", { role: "tabpanel", id: `${stem}-${name}`, "aria-labelledby": `${stem}-${name}-tab`, tabindex: 0, hidden: true, "data-panel": name }),
    ]),
  );
  const buttons = new Map(
    entries.map(({ name, title }) => [
      name,
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `${stem}-${name}-tab`,
          "aria-controls": `${stem}-${name}`,
          "data-tab": name,
          onclick: () => show(name),
          onkeydown: (event: KeyboardEvent) => steer(event),
        },
        title,
      ),
    ]),
  );

  function show(name: string): void {
    shown = name;
    for (const [other, panel] of panels) panel.hidden = other !== name;
    for (const [other, button] of buttons) {
      button.setAttribute("aria-selected", String(other === name));
      button.tabIndex = other === name ? 0 : -1;
    }
    const entry = entries.find((tab) => tab.name === name);
    const panel = panels.get(name);
    if (!entry || !panel || mounted.has(name)) return;
    mounted.add(name);
    entry.mount(panel);
  }

  function steer(event: KeyboardEvent): void {
    const names = entries.map((tab) => tab.name);
    const at = names.indexOf(shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const name = names[(to + names.length) % names.length] as string;
    show(name);
    buttons.get(name)?.focus();
  }

  const list = el("div", { class: "tablist", role: "tablist", "aria-label": label }, ...buttons.values());
  const element = el("div", { class: "tabs" }, list, ...panels.values());
  return {
    element,
    get shown() {
      return shown;
    },
    show,
  };
}

/** Returns a function that runs another at once if an element is visible, else once when it becomes so, until a signal. */
export function whenVisible(root: HTMLElement, run: () => void, ended: AbortSignal): () => void {
  let waiting = false;
  const observer = new IntersectionObserver((entries) => {
    if (!waiting || !entries.some((entry) => entry.isIntersecting)) return;
    waiting = false;
    run();
  });
  observer.observe(root);
  ended.addEventListener("abort", () => observer.disconnect());
  return () => {
    waiting = root.offsetParent === null;
    if (!waiting) run();
  };
}
