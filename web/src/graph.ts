// The network: a stage with search, zoom and lasso, a legend, a menu on every node, and all nodes as a table.
import "./graph.css";
import { actionButtons, manyChange } from "./actions";
import { counted, el, fill, number } from "./dom";
import { shortName, type Point } from "./geometry";
import { legendOf } from "./graph_legend";
import { circleOf, modelOf, type Model } from "./graph_model";
import { Stage, type Focus } from "./graph_stage";
import { mountNodeTable } from "./graph_table";
import { spotlightOf } from "./spotlight";
import { nodeKey } from "./nodes";
import type { Place } from "./places";
import type { Store } from "./state";
import { onTheme, themeNow } from "./theme";
import type { NetworkAnswer, Node } from "./types";

const RECOVERIES = 5;
const ROLES: Record<string, string> = {
  query: "in the query",
  neighbor: "neighbour",
  brought: "added object",
  pinned: "pinned",
  cell: "a chosen cell",
};

const PLACING = "Finding a place for every node…";
/** The note before the first layout, when code may have to be compiled. */
const SLOWLY = `${PLACING} The first time the program prepares compiled code for this, which can take half a minute.`;

export function mountNetwork(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("graph");
  const view = new NetworkView(root, store, ended);
  store.subscribe((changed) => view.follow(changed), ended);
  view.follow(new Set(["network", "places", "selected"]));
}

/** The name of the WebGL renderer; null without WebGL. */
function rendererHere(): string | null {
  try {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
    if (context === null) return null;
    const told = context.getExtension("WEBGL_debug_renderer_info");
    const name = String(context.getParameter(told === null ? context.RENDERER : told.UNMASKED_RENDERER_WEBGL));
    context.getExtension("WEBGL_lose_context")?.loseContext();
    return name;
  } catch {
    return null;
  }
}

class NetworkView {
  private stage: Stage | null = null;
  private model: Model | null = null;
  private network: NetworkAnswer | null = null;
  private pointed: number | null = null;
  private clicked = false;
  private recovered = 0;
  private lost = false;
  /** Whether there is no layout yet. */
  private slow = true;
  private recovering = 0;
  private readonly renderer: string | null;
  private shown: Promise<void> = Promise.resolve();
  private readonly spotlight;
  private readonly holder = el("div", {
    class: "graph-stage",
    tabindex: 0,
    role: "application",
    "aria-label": "The network. Arrows move the view, plus and minus zoom, 0 shows all of it; the table below has every node.",
  });
  private readonly tip = el("div", { class: "graph-tip", role: "tooltip", hidden: true });
  private readonly menu = el("div", { class: "graph-menu", role: "group", "aria-label": "What to do with this node", hidden: true });
  private readonly legend = el("div", { class: "graph-legend" });
  private readonly note = el("p", { class: "graph-note", role: "status" });
  private readonly chosen = el("div", { class: "graph-chosen", hidden: true });
  private readonly tools = el("div", { class: "graph-tools", role: "toolbar", "aria-label": "The view of the network" });
  private readonly lasso = el(
    "button",
    { type: "button", class: "graph-lasso", "aria-pressed": "false", title: "Draw around nodes to choose them (or hold Shift and drag)", onclick: () => this.toggleLasso() },
    "Lasso",
  );

  constructor(
    private readonly root: HTMLElement,
    private readonly store: Store,
    ended: AbortSignal,
  ) {
    this.spotlight = spotlightOf(store);
    this.spotlight.subscribe(() => this.light());
    const button = (text: string, label: string, run: () => void) =>
      el("button", { type: "button", "aria-label": label, title: label, onclick: run }, text);
    this.tools.append(
      button("+", "Zoom in", () => this.stage?.zoom(1.6)),
      button("−", "Zoom out", () => this.stage?.zoom(1 / 1.6)),
      button("Fit", "Show all of the network", () => this.stage?.fit()),
      this.lasso,
    );
    const table = el("details", { class: "graph-nodes" });
    const frame = el("div", { class: "graph-frame" }, this.holder, this.tools, this.note, this.tip, this.menu);
    root.append(frame, this.legend, this.chosen, table);
    mountNodeTable(table, store, () => this.model, (node) => store.select(node));
    this.renderer = rendererHere();
    if (this.renderer !== null) {
      this.stage = this.newStage();
    } else {
      this.say("This browser does not draw by WebGL, so that the network is shown as a table.");
      root.classList.add("graph-flat");
      (table as HTMLDetailsElement).open = true;
    }
    this.holder.addEventListener("webglcontextlost", () => this.recover(), true);
    this.holder.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.closeMenu());
    document.addEventListener("pointerdown", (event) => !this.menu.contains(event.target as globalThis.Node) && this.closeMenu(), { signal: ended });
    onTheme(() => this.dress(), ended);
    const sized = new ResizeObserver(() => (this.lost ? this.recover() : this.stage?.resize()));
    sized.observe(this.holder);
    ended.addEventListener("abort", () => {
      sized.disconnect();
      this.stage?.kill();
      this.stage = null;
    });
    store.debug.placeOf = (id) => this.placeOf(id);
  }

  follow(changed: ReadonlySet<string>): void {
    const { network, places, selected } = this.store;
    if (network !== this.network && changed.has("network")) {
      this.network = network;
      this.model = network === null ? null : modelOf(network, themeNow());
      this.pointed = null;
      this.tip.hidden = true;
      this.closeMenu();
      if (this.spotlight.lassoed.length > 0) this.gather([]);
      this.drawLegend();
    }
    this.root.dataset.nodes = String(this.model?.size ?? 0);
    this.holder.hidden = this.stage === null;
    if (changed.has("network") || changed.has("places")) this.shown = this.shown.then(() => this.show());
    if (changed.has("selected")) this.showSelected(selected);
    if (this.stage === null) return;
    if (this.store.placed) this.slow = false;
    const waiting = this.store.busy === null ? "The network will be drawn here." : "Making the network…";
    this.say(this.model === null ? waiting : places === null ? this.slow ? SLOWLY : PLACING : "");
  }

  /** Marks the selected node, and moves the view to one that was selected elsewhere. */
  private showSelected(selected: Node | null): void {
    if (this.stage?.model !== this.model) return; // the network before is still shown: what is selected is marked with the new one
    const position = selected === null ? null : this.positionOf(selected);
    this.stage?.select(position);
    if (position !== null && !this.clicked) this.stage?.flyTo(position);
  }

  private async show(): Promise<void> {
    const { places, placed } = this.store;
    const { model, stage } = this;
    if (stage === null) return;
    if (model === null) {
      if (stage.model !== null) this.restart();
      this.root.dataset.drawn = "0";
      return;
    }
    if (places === null || places.length !== model.size) return;
    if (stage.model !== model) {
      await stage.show(model, places);
      if (stage !== this.stage) return;
      stage.select(this.store.selected === null ? null : this.positionOf(this.store.selected));
      this.light();
    }
    if (placed) stage.place(places);
    this.root.dataset.drawn = String(model.size);
    this.root.dataset.links = String(model.drawn.length);
    this.root.dataset.placed = String(placed);
  }

  private newStage(): Stage {
    /** Ignores events while the stage still shows the previous network. */
    const heeded =
      <Given extends unknown[]>(run: (...given: Given) => void) =>
      (...given: Given): void => {
        if (this.model !== null && this.stage?.model === this.model) run(...given);
      };
    const events = {
      enter: heeded((position: number) => this.point(position)),
      leave: () => this.point(null),
      click: heeded((position: number | null) => this.click(position)),
      menu: heeded((position: number, at: Point) => this.openMenu(position, at)),
      dragged: heeded((position: number, place: Place) => {
        if (this.store.places) this.store.places[position] = place;
      }),
      lassoed: heeded((positions: number[]) => this.gather(positions)),
    };
    return new Stage(this.holder, themeNow(), events, this.renderer ?? "", [this.tools]);
  }

  private restart(): void {
    this.lost = false;
    this.stage?.kill();
    this.holder.replaceChildren();
    this.stage = this.newStage();
  }

  /** Draws again after the WebGL context was lost, such as after sleep; a few times only, and only when visible. */
  private recover(): void {
    this.lost = true;
    if (this.recovering !== 0 || this.recovered >= RECOVERIES || !this.holder.isConnected) return;
    this.recovered++;
    this.recovering = window.setTimeout(() => {
      this.recovering = 0;
      if (this.holder.isConnected) this.redraw();
    }, 300);
  }

  private dress(): void {
    if (this.network !== null) this.model = modelOf(this.network, themeNow());
    this.drawLegend();
    this.redraw();
  }

  private redraw(): void {
    if (this.stage === null) return;
    this.restart();
    this.shown = this.shown.then(() => this.show());
  }

  // Pointing and choosing

  private point(position: number | null): void {
    this.pointed = position;
    this.light();
    const { model, stage } = this;
    this.tip.hidden = position === null || model === null || stage === null;
    if (position === null || model === null || stage === null) return;
    fill(this.tip, el("strong", {}, el("bdi", {}, shortName(model.names[position]!, 90))), el("span", {}, this.about(position)));
  }

  private about(position: number): string {
    const network = this.network!;
    const role = network.nodes.role[position]!;
    const label = network.nodes.label[position]!;
    const links = counted(this.model!.degrees[position]!, "link");
    if (role === "cell") {
      const rank = network.nodes.cells[position]?.[0];
      const cell = rank === undefined ? undefined : network.cells[rank - 1];
      return cell === undefined ? `${ROLES[role]}, ${links}` : `chosen as number ${rank}, holds ${number(cell.query_objects)} of the query, ${counted(cell.objects, "object")} in all`;
    }
    const cells = network.nodes.cells[position]!;
    const held = cells.length === 0 ? "" : ` · in ${counted(cells.length, "chosen cell")}`;
    return `${ROLES[role]}${label && role === "query" ? ` · ${shortName(label, 60)}` : ""} · ${links}${held}`;
  }

  /** Highlights the node under the pointer, or else what a table or the legend highlights. */
  private light(): void {
    const { model, stage } = this;
    if (model === null || stage === null || stage.model !== model) return;
    const nothing: ReadonlySet<number> = new Set();
    if (this.pointed !== null) {
      return this.lightUp({ nodes: circleOf(model, this.pointed), middle: this.pointed, came: nothing, went: nothing });
    }
    const { light, lassoed } = this.spotlight;
    const given = light ?? (lassoed.length > 0 ? { nodes: lassoed } : null);
    if (given === null) return this.lightUp(null);
    const at = (nodes: readonly Node[] = []): number[] => nodes.flatMap((node) => this.positionOf(node) ?? []);
    const focus: Focus = { nodes: [], middle: null, came: new Set(at(given.came)), went: new Set(at(given.went)) };
    focus.nodes = [...new Set([...at(given.nodes), ...focus.came, ...focus.went])];
    this.lightUp(focus);
  }

  private lightUp(focus: Focus | null): void {
    this.stage?.light(focus);
    this.root.dataset.lit = String(focus?.nodes.length ?? 0);
  }

  private click(position: number | null): void {
    this.closeMenu();
    if (position === null && this.spotlight.lassoed.length > 0) return this.gather([]);
    this.selectHere(position === null ? null : this.model!.nodes[position]!);
  }

  private selectHere(node: Node | null): void {
    this.clicked = true;
    this.store.select(node);
    this.clicked = false;
  }

  private key(event: KeyboardEvent): void {
    const { stage } = this;
    if (stage === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const selected = this.store.selected === null ? null : this.positionOf(this.store.selected);
    const moves: Record<string, () => void> = {
      ArrowLeft: () => stage.pan(-0.15, 0),
      ArrowRight: () => stage.pan(0.15, 0),
      ArrowUp: () => stage.pan(0, -0.15),
      ArrowDown: () => stage.pan(0, 0.15),
      "+": () => stage.zoom(1.6),
      "=": () => stage.zoom(1.6),
      "-": () => stage.zoom(1 / 1.6),
      "0": () => stage.fit(),
      Enter: () => selected !== null && this.openMenu(selected, stage.screenPlace(selected)),
      ContextMenu: () => selected !== null && this.openMenu(selected, stage.screenPlace(selected)),
      Escape: () => this.click(null),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  }

  private openMenu(position: number, at: Point): void {
    const node = this.model!.nodes[position]!;
    this.selectHere(node);
    this.tip.hidden = true;
    fill(this.menu, el("p", { class: "graph-menu-name" }, el("bdi", {}, shortName(this.model!.names[position]!, 60))), ...actionButtons(this.store, node, () => this.closeMenu()));
    this.menu.hidden = false;
    const { width, height } = this.stage!.size;
    this.menu.style.left = `${Math.max(4, Math.min(at.x, width - this.menu.offsetWidth - 4))}px`;
    this.menu.style.top = `${Math.max(4, Math.min(at.y, height - this.menu.offsetHeight - 4))}px`;
    this.menu.querySelector("button")?.focus();
  }

  private closeMenu(): void {
    if (this.menu.hidden) return;
    const inside = this.menu.contains(document.activeElement);
    this.menu.hidden = true;
    if (inside) this.holder.focus({ preventScroll: true });
  }

  // The lasso

  private toggleLasso(): void {
    if (this.stage === null) return;
    this.stage.lassoing = !this.stage.lassoing;
    this.lasso.setAttribute("aria-pressed", String(this.stage.lassoing));
    this.holder.classList.toggle("lassoing", this.stage.lassoing);
  }

  private gather(positions: readonly number[]): void {
    if (this.stage?.lassoing) this.toggleLasso();
    const model = this.model;
    const nodes = model === null ? [] : positions.map((position) => model.nodes[position]!);
    this.spotlight.lasso(nodes);
    this.chosen.hidden = nodes.length === 0;
    if (model === null || nodes.length === 0) return fill(this.chosen);
    const move = (text: string, word: "pins" | "bans" | "prefer" | "query") =>
      el("button", { type: "button", "data-action": word, onclick: () => this.moveAll(nodes, word) }, text);
    const most = 200;
    fill(
      this.chosen,
      el(
        "div",
        { class: "graph-chosen-bar" },
        el("strong", {}, `${counted(nodes.length, "node")} chosen`),
        move("Pin all", "pins"),
        move("Ban all", "bans"),
        move("Prefer all", "prefer"),
        move("As a new query", "query"),
        el("button", { type: "button", onclick: () => this.gather([]) }, "Let go"),
      ),
      el(
        "ul",
        {},
        ...positions.slice(0, most).map((position) =>
          el("li", {}, el("button", { type: "button", class: "link", onclick: () => this.store.select(model.nodes[position]!) }, el("bdi", {}, shortName(model.names[position]!, 60)))),
        ),
        positions.length > most && el("li", {}, `and ${number(positions.length - most)} more`),
      ),
    );
  }

  private moveAll(nodes: readonly Node[], word: "pins" | "bans" | "prefer" | "query"): void {
    const labels = new Map(this.network!.nodes.id.map((id, at) => [String(id), this.network!.nodes.label[at]!]));
    this.gather([]);
    void this.store.move(manyChange(this.store.request, nodes, word, labels)).catch((error: unknown) => this.store.refuse(error));
  }

  // Legend and notes

  private drawLegend(): void {
    const { model, network } = this;
    fill(this.legend, ...(model === null || network === null ? [] : legendOf(model, network, (nodes) => this.spotlight.show(nodes && { nodes }))));
  }

  private say(text: string): void {
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.hidden = text === "";
  }

  private positionOf(node: Node): number | null {
    return this.model?.positions.get(nodeKey(node)) ?? null;
  }

  /** The position of a node in the window, by its id or key; null if it is not drawn. */
  private placeOf(id: string | number): Point | null {
    const { model, stage } = this;
    if (model === null || stage === null || stage.model !== model) return null;
    const position = model.positions.get(nodeKey({ object: id })) ?? model.positions.get(String(id));
    if (position === undefined) return null;
    const place = stage.screenPlace(position);
    const box = this.holder.getBoundingClientRect();
    return { x: box.left + place.x, y: box.top + place.y };
  }
}
