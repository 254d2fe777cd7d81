// The tab Settings: sizes, method, part of the cube, pins, bans and preferred objects.
import "./steer.css";
import { completing } from "./completion";
import { dial } from "./dials";
import { el, fill, freshId, number } from "./dom";
import { isNearOfFew, NEAR_FEW, shortest } from "./requests";
import { nodeKey } from "./nodes";
import type { Store } from "./state";
import type { NetworkRequest, DimensionSchema, Id, NetworkAnswer, Node, SummarySchema } from "./types";
import { formLine, levelsLine, methodLine, objectiveLine, USUAL_METHODS, methodTitle } from "./words";

export function mountSteer(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("steer", "pad");
  const shows: (() => void)[] = [];
  const part = (title: string, ...children: HTMLElement[]): HTMLElement =>
    el("fieldset", {}, el("legend", {}, title), ...children);
  root.append(
    part("Size", ...dials(store, shows)),
    part("Method", ...choices(store, shows)),
    part("Part of the data", ...scope(store, shows)),
    part("Always or never included", nodesList(store, shows, "pins", "Pinned"), nodesList(store, shows, "bans", "Banned")),
    part("Also stay close to", preferredList(store, shows)),
    further(store, shows),
  );
  const draw = (): void => {
    for (const show of shows) show();
  };
  store.subscribe((changed) => {
    if (["request", "network", "prices", "names"].some((name) => changed.has(name as never))) draw();
  }, ended);
  draw();
}

const summaryOf = <T>(store: Store, word: keyof SummarySchema): T | null => (store.network?.summary[word] as T | undefined) ?? null;

/** Whether the method asked for chooses cells; others follow links. */
const choosesCells = (store: Store): boolean =>
  store.cube.methods.find(({ name }) => name === (store.request.method ?? "greedy"))?.cells !== false;

function dials(store: Store, shows: (() => void)[]): HTMLElement[] {
  const size = (): number => store.request.query.length;
  const m = dial({ name: "n_cells", title: "Number of cells", auto: "depends on the query", least: 1 }, (value, settled) => void store.move({ n_cells: value }, { settled }));
  const r = dial({ name: "r", title: "Cells per object", auto: "up to 3", least: 1 }, (value, settled) => void store.move({ r: value }, { settled }));
  const near = dial({ name: "n_neighbors", title: "Neighbours", auto: "as many as fit", least: 0 }, (value, settled) => void store.move({ n_neighbors: value }, { settled }));
  const sized = new Sizes();
  shows.push(() => {
    const chosen = store.network?.cells.length ?? null;
    const sure = store.request.n_cells === undefined || store.request.n_cells === null;
    const covers = (store.request.objective ?? summaryOf<string>(store, "objective") ?? "cover") === "cover";
    if (store.network !== null) sized.see(store.network);
    const most = sized.suffices(store.request);
    const enough = most !== null && (store.request.n_cells ?? 0) > most;
    m.show(store.request.n_cells ?? null, sure ? chosen : null, most ?? Math.min(store.cube.cells, Math.max(60, 2 * (chosen ?? 0))), covers ? "depends on the query" : "20 by default");
    m.tell(enough ? `${number(most)} are enough: no other cell contains more of your objects.` : "");
    r.show(store.request.r ?? null, 3, 10);
    m.element.hidden = !choosesCells(store);
    r.element.hidden = !covers || !choosesCells(store);
    const brought = store.request.n_neighbors === undefined ? (summaryOf<number>(store, "n_neighbors") ?? size()) : null;
    near.show(store.request.n_neighbors ?? null, brought, Math.max(30, 3 * size()), brought === size() ? "as many as the query" : "as many as fit");
    near.tell(isNearOfFew(store.request) ? `${NEAR_FEW}, because the query is small.` : "");
    near.element.hidden = (store.request.form ?? summaryOf<string>(store, "form") ?? "hybrid") !== "hybrid" || !choosesCells(store);
  });
  return [m.element, r.element, near.element, typedNumber(store, shows, "max_nodes", "Maximum number of nodes", 1, "no limit")];
}

/** The number of cells that suffice, known from answers with fewer cells than requested, or with an automatic number. */
class Sizes {
  private readonly known = new Map<string, number>();

  see({ request, cells, summary }: NetworkAnswer): void {
    const free = request.n_cells === undefined || request.n_cells === null;
    if ((free ? summary.objective === "cover" : cells.length < request.n_cells!) && cells.length > 0) this.known.set(this.keyOf(request), cells.length);
  }

  suffices(request: NetworkRequest): number | null {
    return this.known.get(this.keyOf(request)) ?? null;
  }

  /** The request without the number of cells. */
  private keyOf({ n_cells: _, cube: __, n_neighbors: ___, ...request }: NetworkRequest): string {
    return JSON.stringify(Object.entries(shortest(request as NetworkRequest)).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function typedNumber(store: Store, shows: (() => void)[], word: "max_nodes" | "seed", title: string, least: number, placeholder: string): HTMLElement {
  const field = el("input", { type: "number", min: least, step: 1, placeholder, "data-number": word });
  field.addEventListener("change", () => {
    if (!field.validity.valid) field.reportValidity();
    else void store.move({ [word]: field.value === "" ? null : field.valueAsNumber });
  });
  shows.push(() => (field.value = String(store.request[word] ?? "")));
  return el("label", { class: "typed" }, el("span", {}, title), field);
}

/** A list of choices, the first of which is automatic. */
function choice(name: string, title: string, values: [value: string, text: string, disabled?: boolean][], chosen: (value: string) => void) {
  const select = el(
    "select",
    { "data-choice": name },
    ...values.map(([value, text, disabled]) => el("option", { value, disabled: disabled ?? false }, text)),
  );
  select.addEventListener("change", () => chosen(select.value));
  /** The description of the chosen value. */
  const about = el("p", { class: "about small quiet", id: freshId("about") });
  select.setAttribute("aria-describedby", about.id);
  return { element: el("label", { class: "field" }, el("span", {}, title), select), select, about };
}

/** The options that the method auto chooses. */
const LEFT_TO_IT: Partial<NetworkRequest> = { n_cells: null, r: null, n_neighbors: null, objective: "", form: "", levels: "" };

function choices(store: Store, shows: (() => void)[]): HTMLElement[] {
  const methods = store.cube.methods.map(
    ({ name, long, missing }): [string, string, boolean] => [name, methodTitle(name, long, missing), missing !== null],
  );
  const usual = methods.filter(([name]) => name !== "greedy" && USUAL_METHODS.includes(name)).sort(([a], [b]) => USUAL_METHODS.indexOf(a) - USUAL_METHODS.indexOf(b));
  const method = choice("method", "Method", [["", "greedy"], ...usual], (value) => void store.move({ method: value, options: {}, ...(value === "auto" ? LEFT_TO_IT : {}) }));
  const rare = methods.filter(([name]) => !USUAL_METHODS.includes(name));
  if (rare.length > 0) method.select.append(el("optgroup", { label: "More methods" }, ...rare.map(([value, text, disabled]) => el("option", { value, disabled }, text))));
  const fit = (what: string): [string, string] => ["", what];
  const objective = choice("objective", "Objective", [fit("automatic"), ...store.cube.objectives.map((name): [string, string] => [name, name])], (value) => void store.move({ objective: value, ...(["", "cover"].includes(value) ? {} : { r: null }) }));
  const form = choice("form", "Form", [fit("automatic"), ...store.cube.forms.map((name): [string, string] => [name, name])], (value) => void store.move({ form: value, ...(["", "hybrid"].includes(value) ? {} : { n_neighbors: null }) }));
  const finest = store.cube.dimensions.flatMap((dimension) => dimension.levels.slice(0, 1).map((level) => level.name));
  const levels = choice("levels", "Labels of a cell", [fit("all dimensions, and single labels"), ["full", "all dimensions"], ["one", "single labels"], ...finest.map((name): [string, string] => [`only ${name}`, `${name} only`])], (value) =>
    void store.move({ levels: value.startsWith("only ") ? [value.slice(5)] : value }),
  );
  shows.push(() => {
    method.select.value = store.request.method ?? "";
    if (method.select.selectedIndex < 0 || store.request.method === "greedy") method.select.value = "";
    objective.select.options[0]!.textContent = suited(store, "objective");
    objective.select.value = store.request.objective ?? "";
    form.select.options[0]!.textContent = suited(store, "form");
    form.select.value = store.request.form ?? "";
    const asked = store.request.levels ?? "";
    const said = typeof asked === "string" ? asked : `only ${asked.join(" ")}`;
    levels.select.value = said === "full+one" ? "" : said;
    const meant = (word: "objective" | "form"): string => store.request[word] || (summaryOf<string>(store, word) ?? "");
    method.about.textContent = methodLine(store.request.method || "greedy");
    objective.about.textContent = objectiveLine(meant("objective"));
    form.about.textContent = formLine(meant("form"));
    levels.about.textContent = levelsLine(levels.select.value);
    for (const { element, about } of [objective, form, levels]) element.hidden = about.hidden = !choosesCells(store);
  });
  return [method, objective, form, levels].flatMap(({ element, about }) => [element, about]);
}

const suited = (store: Store, word: "objective" | "form"): string => {
  const taken = store.request[word] ? null : summaryOf<string>(store, word);
  return taken ? `automatic: ${taken}` : "automatic";
};

function scope(store: Store, shows: (() => void)[]): HTMLElement[] {
  return [
    ...(store.cube.times ? [timeWindow(store, store.cube.times, shows)] : []),
    ...store.cube.dimensions.map((dimension) => onlyLabels(store, dimension, shows)),
    ...store.cube.dimensions.filter(() => store.cube.dimensions.length > 1).map((dimension) => rollUp(store, dimension, shows)),
    ...(store.cube.kinds.length > 1 ? [onlyKinds(store, shows)] : []),
  ];
}

function timeWindow(store: Store, times: readonly string[], shows: (() => void)[]): HTMLElement {
  const side = (label: string): HTMLSelectElement =>
    el("select", { "aria-label": label, "data-choice": label.toLowerCase().replaceAll(" ", "-") }, el("option", { value: "" }, label === "From time" ? "first" : "last"), ...times.map((time) => el("option", { value: time }, time)));
  const from = side("From time");
  const to = side("To time");
  const moved = (): void => void store.move({ between: from.value || to.value ? `${from.value}..${to.value}` : "" });
  from.addEventListener("change", moved);
  to.addEventListener("change", moved);
  shows.push(() => {
    const [first = "", last = ""] = (store.request.between ?? "").split("..");
    from.value = first;
    to.value = last;
  });
  return el("div", { class: "field" }, el("span", {}, "Time"), el("div", { class: "row" }, from, el("span", { class: "quiet" }, "to"), to));
}

/** Restricts cells to some labels of a dimension. */
function onlyLabels(store: Store, dimension: DimensionSchema, shows: (() => void)[]): HTMLElement {
  const field = el("input", { placeholder: "any", "aria-label": `Only these labels of ${dimension.name}`, "data-only": dimension.name });
  const chips = el("ul", { class: "chips" });
  const only = (): string[] => store.request.where?.[dimension.name] ?? [];
  const change = (labels: string[]): void => {
    const { [dimension.name]: _, ...rest } = store.request.where ?? {};
    void store.move({ where: labels.length > 0 ? { ...rest, [dimension.name]: labels } : rest });
  };
  const box = completing(field, async (text) => {
    const wanted = text.toLowerCase();
    return (dimension.levels[0]?.first ?? [])
      .filter((label) => label.toLowerCase().includes(wanted) && !only().includes(label))
      .sort((a, b) => Number(b.toLowerCase().startsWith(wanted)) - Number(a.toLowerCase().startsWith(wanted)))
      .slice(0, 60)
      .map((label) => ({
        text: label,
        take: () => {
          field.value = "";
          change([...only(), label]);
        },
      }));
  }, { eager: true });
  shows.push(() => {
    fill(chips, ...only().map((label) => removable(label, () => change(only().filter((other) => other !== label)))));
    chips.hidden = only().length === 0;
    field.placeholder = only().length === 0 ? "any" : "or …";
  });
  return el("div", { class: "field top" }, el("span", {}, `Only ${dimension.name}`), el("div", { class: "stack" }, chips, box));
}

function rollUp(store: Store, dimension: DimensionSchema, shows: (() => void)[]): HTMLElement {
  const { element, select } = choice(
    `level-${dimension.name}`,
    `Level of ${dimension.name}`,
    [...dimension.levels.map(({ name }, place): [string, string] => [place === 0 ? "" : name, name]), ["∗", "all as one"]],
    (value) => {
      const { [dimension.name]: _, ...rest } = store.request.roll_up ?? {};
      void store.move({ roll_up: value ? { ...rest, [dimension.name]: value } : rest });
    },
  );
  shows.push(() => (select.value = store.request.roll_up?.[dimension.name] ?? ""));
  return element;
}

function onlyKinds(store: Store, shows: (() => void)[]): HTMLElement {
  const boxes = store.cube.kinds.map((kind) => {
    const box = el("input", { type: "checkbox", value: kind });
    box.addEventListener("change", () => {
      const kinds = boxes.filter(({ box }) => box.checked).map(({ kind }) => kind);
      void store.move({ kind: kinds.length === boxes.length ? [] : kinds });
    });
    return { kind, box };
  });
  shows.push(() => {
    for (const { kind, box } of boxes) box.checked = !store.request.kind?.length || store.request.kind.includes(kind);
  });
  return el("div", { class: "field top" }, el("span", {}, "Kinds"), el("div", {}, ...boxes.map(({ kind, box }) => el("label", { class: "check" }, box, kind))));
}

function removable(text: string, remove: () => void, price?: string | null): HTMLElement {
  return el(
    "li",
    { class: "chip plain" },
    el("span", { class: "name" }, text),
    price ? el("span", { class: "price" }, price) : null,
    el("button", { type: "button", class: "remove", "aria-label": `Remove ${text}`, onclick: remove }, "×"),
  );
}

function nodesList(store: Store, shows: (() => void)[], word: "pins" | "bans", title: string): HTMLElement {
  const list = el("ul", { class: "listed", "data-list": word, "aria-label": title });
  const none = el("p", { class: "small quiet" }, word === "pins" ? "Pin a cell or an object to keep it in the network." : "Ban a cell or an object to keep it out.");
  shows.push(() => {
    const nodes: Node[] = store.request[word] ?? [];
    const remove = (node: Node): void =>
      void store.move({ [word]: nodes.filter((other) => nodeKey(other) !== nodeKey(node)) });
    fill(list, ...nodes.map((node, place) => priced(store, node, word, place, () => remove(node))));
    none.hidden = nodes.length > 0;
  });
  const add = adding(store, `Add to ${title.toLowerCase()}`, (id) => void store.move({ [word]: [...(store.request[word] ?? []), { object: id }] }));
  return el("div", { class: "stack" }, el("div", { class: "small" }, title), none, list, add);
}

/** A pin or a ban with its price; prices are in the order of pins, then bans. */
function priced(store: Store, node: Node, word: "pins" | "bans", place: number, remove: () => void): HTMLElement {
  const mine = store.prices.filter(({ kind }) => kind.startsWith(word.slice(0, 3)));
  const price = mine[place];
  return el(
    "li",
    { "data-node": nodeKey(node) },
    el(
      "div",
      { class: "row" },
      el("span", { class: "dot" }),
      el("button", { type: "button", class: "name", onclick: () => store.select(node) }, store.titleOf(node)),
      price && price.price !== null ? el("span", { class: "price", title: price.sentence }, costs(price.price)) : null,
      el("button", { type: "button", class: "remove", "aria-label": `Remove ${store.titleOf(node)}`, onclick: remove }, "×"),
    ),
    price && price.price === null ? el("p", { class: "small quiet" }, price.sentence) : null,
  );
}

const costs = (price: number): string => (Math.abs(price) < 5e-5 ? "free" : `costs ${Number(price.toPrecision(3))}`);

function preferredList(store: Store, shows: (() => void)[]): HTMLElement {
  const chips = el("ul", { class: "chips", "data-list": "prefer", "aria-label": "Prefer" });
  const ids = (): Id[] => store.request.prefer ?? [];
  shows.push(() => {
    fill(chips, ...ids().map((id) => removable(store.nameOf(id), () => void store.move({ prefer: ids().filter((other) => other !== id) }))));
    chips.hidden = ids().length === 0;
  });
  const add = adding(store, "Prefer", (id) => void store.move({ prefer: [...ids().filter((other) => other !== id), id] }));
  return el("div", { class: "stack" }, chips, add);
}

function adding(store: Store, title: string, take: (id: Id) => void): HTMLElement {
  const field = el("input", { placeholder: "Add by name", "aria-label": title });
  return completing(field, async (text, signal) => {
    const { candidates } = await store.client.ask("complete", { text, most: 8 }, { signal });
    return candidates.map((one) => ({
      text: one.name,
      about: one.about || one.kind,
      take: () => {
        field.value = "";
        store.learn(one.id, one.name);
        take(one.id);
      },
    }));
  });
}

function further(store: Store, shows: (() => void)[]): HTMLElement {
  const bound = el("input", { type: "checkbox", "data-choice": "bound" });
  bound.addEventListener("change", () => void store.move({ bound: bound.checked }));
  const options = el("div", { class: "stack" });
  shows.push(() => {
    bound.checked = store.request.bound ?? false;
    const method = store.cube.methods.find(({ name }) => name === (store.request.method ?? "greedy"));
    const shown = (method?.options ?? []).map((option) => optionField(store, option.name, option.default));
    fill(options, shown.length > 0 ? el("div", { class: "small" }, `Options of ${method?.name}`) : null, ...shown);
  });
  return el(
    "details",
    {},
    el("summary", {}, "More settings"),
    el(
      "div",
      { class: "stack" },
      el("label", { class: "check" }, bound, "Also compute the best possible value"),
      typedNumber(store, shows, "seed", "Seed", 0, "0"),
      options,
    ),
  );
}

function optionField(store: Store, name: string, standard: string | number | boolean | null): HTMLElement {
  const asked = store.request.options?.[name];
  const change = (value: string | number | boolean | undefined): void => {
    const { [name]: _, ...rest } = store.request.options ?? {};
    void store.move({ options: value === undefined ? rest : { ...rest, [name]: value } } as Partial<NetworkRequest>);
  };
  if (typeof standard === "boolean") {
    const box = el("input", { type: "checkbox", "data-option": name });
    box.checked = asked === undefined ? standard : Boolean(asked);
    box.addEventListener("change", () => change(box.checked === standard ? undefined : box.checked));
    return el("label", { class: "check" }, box, name);
  }
  const numeric = typeof standard === "number";
  const field = el("input", { type: numeric ? "number" : "text", step: "any", placeholder: standard === null ? "" : String(standard), "data-option": name, value: asked === undefined ? "" : String(asked) });
  field.addEventListener("change", () => change(field.value === "" ? undefined : numeric ? field.valueAsNumber : field.value));
  return el("label", { class: "field" }, el("span", {}, name), field);
}
