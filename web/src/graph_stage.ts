// The stage of the network: sigma draws nodes and links, a canvas above it names and highlights.
import Graph from "graphology";
import Sigma from "sigma";
import { type Look, LOOKS, premultiplied, type Theme } from "./palette";
import { insidePolygon, type Point } from "./geometry";
import { between, boxOf, PADDING, stretchOf, unitOf } from "./graph_frame";
import { drawingOrder, type Model, radiusOf, sameColour } from "./graph_model";
import { listenLasso } from "./graph_lasso";
import { drawOverlay, type Ghost, type Overlay } from "./graph_overlay";
import { DISC, Links, NodeShapes, SQUARE } from "./graph_programs";
import type { Place } from "./places";

export interface StageEvents {
  enter(position: number): void;
  leave(): void;
  click(position: number | null): void;
  menu(position: number, at: Point): void;
  dragged(position: number, place: Place): void;
  lassoed(positions: number[]): void;
}

/** Highlights: positions of nodes, the one under the pointer, and those that would be added or removed. */
export interface Focus {
  nodes: number[];
  middle: number | null;
  came: ReadonlySet<number>;
  went: ReadonlySet<number>;
}

const GLIDE = 600;
/** In software rendering, more links than these are hidden while the view moves. */
const MANY = 3000;
const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Stage {
  model: Model | null = null;
  xs = new Float64Array(0);
  ys = new Float64Array(0);
  focus: Focus | null = null;
  selected: number | null = null;
  lassoing = false;

  private readonly sigma: Sigma;
  private readonly canvas: HTMLCanvasElement;
  private readonly overlay: Overlay;
  private readonly look: Look;
  private ghosts: Ghost[] = [];
  private ghostsUntil = 0;
  private outline: Point[] = [];
  private frame = 0;
  private generation = 0;
  private gliding = 0;
  private dragging: number | null = null;
  private moved = false;
  private unit = 1;
  private stretch: [number, number] = [1, 1];
  /** The places in the layout. */
  private laid: readonly Place[] = [];
  /** Whether the program, not the user, moved the view to a node. */
  private flown = false;
  /** Share of the nodes in view before the network changed, and share of nodes that are the same. */
  private change: { saw: number; kept: number } | null = null;
  private readonly slow: boolean;
  private readonly alive = new AbortController();

  constructor(
    readonly container: HTMLElement,
    theme: Theme,
    private readonly events: StageEvents,
    renderer: string,
    /** Elements above the stage, which names must not cover. */
    readonly above: readonly HTMLElement[] = [],
  ) {
    this.slow = /swiftshader|llvmpipe|software|basic render/i.test(renderer);
    this.look = LOOKS[theme];
    this.sigma = new Sigma(new Graph(), container, {
      allowInvalidContainer: true,
      renderLabels: false,
      defaultNodeType: "shape",
      defaultEdgeType: "link",
      nodeProgramClasses: { shape: NodeShapes },
      edgeProgramClasses: { link: Links },
      defaultDrawNodeHover: () => undefined,
      stagePadding: PADDING,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      zIndex: false,
    });
    container.style.background = this.look.background;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "graph-overlay";
    container.append(this.canvas);
    const context = this.canvas.getContext("2d");
    if (context === null) throw new Error("the browser draws no canvas");
    this.overlay = { context, font: getComputedStyle(container).fontFamily, widths: new Map() };
    this.sigma.on("afterRender", () => this.draw());
    this.sigma.on("resize", () => this.resized());
    this.listen();
    const draw = (outline: Point[]): void => {
      this.outline = outline;
      this.later();
    };
    const end = (corners: Point[]): void => this.events.lassoed(this.inside(corners));
    listenLasso(container, { wanted: () => this.lassoing, draw, end }, this.alive.signal);
    this.resized();
  }

  /** Shows another network; removed nodes fade out in place. */
  async show(model: Model, places: readonly Place[]): Promise<void> {
    const generation = ++this.generation;
    const before = this.model;
    const first = before === null;
    this.leaveGhosts(before, model);
    const [xs, ys] = [Float64Array.from(places, (place) => place[0]), Float64Array.from(places, (place) => place[1])];
    const stretch = first ? stretchOf(boxOf(xs, ys), this.sigma.getDimensions()) : this.stretch;
    for (let at = 0; at < model.size; at++) [xs[at], ys[at]] = [xs[at]! * stretch[0], ys[at]! * stretch[1]];
    const box = boxOf(xs, ys);
    const unit = unitOf(box, this.sigma.getDimensions());
    const { width, height } = this.sigma.getDimensions();
    const room = width > 50 ? width * height : 900 * 600;
    const faint = Math.max(0.12, Math.min(1, room / Math.max(1, model.drawn.length) / 200) ** 0.75);
    const graph = new Graph({ type: "undirected", multi: true });
    let added = 0;
    for (const at of drawingOrder(model)) {
      graph.addNode(String(at), { x: xs[at]!, y: ys[at]!, ...nodeAttributes(model, at, this.look, unit) });
      if (++added % 4000 === 0) await breath();
    }
    for (let index = 0; index < model.drawn.length; index++) {
      const link = model.drawn[index]!;
      graph.addEdgeWithKey(String(link), String(model.source[link]), String(model.target[link]), linkAttributes(model, link, this.look, faint));
      if (index % 6000 === 5999) await breath();
    }
    if (generation !== this.generation) return;
    this.gliding++;
    this.change = before === null ? null : { saw: this.seen(), kept: model.keys.filter((key) => before.positions.has(key)).length / Math.max(1, model.size, before.size) };
    // Pointer, selection and dragging refer to positions in the previous network.
    [this.focus, this.selected, this.dragging] = [null, null, null];
    [this.model, this.xs, this.ys, this.stretch, this.laid] = [model, xs, ys, stretch, places];
    this.overlay.widths.clear();
    if (first || model.simple) this.sigma.setCustomBBox(box);
    this.sigma.setSetting("hideEdgesOnMove", this.slow && model.drawn.length > MANY);
    this.unit = unit;
    this.sigma.setGraph(graph);
    if (first) this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    this.container.classList.remove("fades");
  }

  /** Moves the nodes to other places, animated unless there are many or reduced motion is preferred. */
  place(places: readonly Place[]): void {
    const model = this.model;
    if (model === null || places.length !== model.size) return;
    const gliding = ++this.gliding;
    const graph = this.sigma.getGraph();
    const [fromX, fromY] = [this.xs.slice(), this.ys.slice()];
    const [toX, toY] = [Float64Array.from(places, (place) => place[0]), Float64Array.from(places, (place) => place[1])];
    [this.laid, this.stretch] = [places, stretchOf(boxOf(toX, toY), this.sigma.getDimensions())];
    for (let at = 0; at < model.size; at++) [toX[at], toY[at]] = [toX[at]! * this.stretch[0], toY[at]! * this.stretch[1]];
    const [boxFrom, boxTo] = [this.sigma.getCustomBBox() ?? boxOf(fromX, fromY), boxOf(toX, toY)];
    const unit = (this.unit = unitOf(boxTo, this.sigma.getDimensions()));
    const step = (share: number): void => {
      for (let at = 0; at < model.size; at++) {
        this.xs[at] = fromX[at]! + (toX[at]! - fromX[at]!) * share;
        this.ys[at] = fromY[at]! + (toY[at]! - fromY[at]!) * share;
      }
      this.sigma.setCustomBBox({ x: between(boxFrom.x, boxTo.x, share), y: between(boxFrom.y, boxTo.y, share) });
      graph.updateEachNodeAttributes(
        (node, attributes) => {
          const at = Number(node);
          attributes.x = this.xs[at];
          attributes.y = this.ys[at];
          if (share === 1) attributes.size = radiusOf(model.roles[at]!, model.degrees[at]!, unit);
          return attributes;
        },
        { attributes: ["x", "y", "size"] },
      );
    };
    if (model.simple || calm() || (this.slow && model.drawn.length > MANY)) {
      step(1);
      return this.settle();
    }
    const begin = performance.now();
    const tick = (now: number): void => {
      if (gliding !== this.gliding) return;
      const time = Math.min(1, Math.max(0, (now - begin) / GLIDE));
      step(time < 0.5 ? 2 * time * time : 1 - (2 - 2 * time) ** 2 / 2);
      if (time < 1) requestAnimationFrame(tick);
      else this.settle();
    };
    requestAnimationFrame(tick);
  }

  /** Fits the view if the network is mostly new or out of view; a view chosen by the user stays. */
  private settle(): void {
    const { change, generation } = this;
    this.change = null;
    if (change === null) return;
    const look = (): void => {
      if (generation !== this.generation || this.model === null) return;
      if (change.kept < 0.5 || (this.seen() < 0.5 && (this.flown || change.saw >= 0.5))) this.fit();
    };
    setTimeout(look, 60); // when the last step has been drawn: places on the screen are known then
  }

  /** The share of the nodes in view. */
  private seen(): number {
    const { width, height } = this.size;
    let inside = 0;
    for (let at = 0; at < this.xs.length; at++) {
      const { x, y } = this.screenPlace(at);
      if (x >= 0 && y >= 0 && x <= width && y <= height) inside++;
    }
    return inside / Math.max(1, this.xs.length);
  }

  /** Highlights some nodes, or none. */
  light(focus: Focus | null): void {
    this.focus = focus;
    this.container.classList.toggle("fades", focus !== null);
    this.later();
  }

  /** Marks a node; without one, the view returns to where it was before. */
  select(position: number | null): void {
    this.selected = position;
    if (position === null && this.flown) this.fit();
    this.later();
  }

  zoom(factor: number): void {
    this.flown = false;
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio / factor) }, { duration: calm() ? 1 : 180 });
  }

  pan(dx: number, dy: number): void {
    this.flown = false;
    const camera = this.sigma.getCamera();
    const { width, height } = this.sigma.getDimensions();
    const [from, to] = [this.sigma.viewportToFramedGraph({ x: 0, y: 0 }), this.sigma.viewportToFramedGraph({ x: dx * width, y: dy * height })];
    void camera.animate({ x: camera.x + to.x - from.x, y: camera.y + to.y - from.y }, { duration: calm() ? 1 : 150 });
  }

  fit(): void {
    this.flown = false;
    this.sigma.setCustomBBox(boxOf(this.xs, this.ys));
    this.sigma.refresh({ schedule: true });
    void this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: calm() ? 1 : 300 });
  }

  /** Moves the view so that a node is in its middle. */
  flyTo(position: number): void {
    const data = this.sigma.getNodeDisplayData(String(position));
    if (data === undefined) return;
    const camera = this.sigma.getCamera();
    const ratio = Math.min(camera.ratio, this.model?.simple ? 0.12 : 0.45);
    this.flown = true;
    void camera.animate({ x: data.x, y: data.y, ratio }, { duration: calm() ? 1 : 500 });
  }

  /** Where a node is on the stage, in pixels from its corner. */
  screenPlace(position: number): Point {
    return this.sigma.graphToViewport({ x: this.xs[position]!, y: this.ys[position]! });
  }

  /** The positions of the nodes inside a polygon of the stage. */
  private inside(corners: readonly Point[]): number[] {
    const found: number[] = [];
    for (let position = 0; position < (this.model?.size ?? 0); position++) {
      if (insidePolygon(this.screenPlace(position), corners)) found.push(position);
    }
    return found;
  }

  /** How large a node is on the screen now. */
  screenRadius(position: number): number {
    const attributes = this.sigma.getGraph().getNodeAttributes(String(position));
    return this.sigma.scaleSize(attributes.size as number);
  }

  get size(): { width: number; height: number } {
    return this.sigma.getDimensions();
  }

  get zoomed(): number {
    return 1 / this.sigma.getCamera().ratio;
  }

  resize(): void {
    this.sigma.resize();
    this.sigma.refresh({ schedule: true });
  }

  kill(): void {
    this.alive.abort();
    this.generation++;
    this.gliding++;
    cancelAnimationFrame(this.frame);
    this.sigma.kill();
    this.canvas.remove();
  }

  private leaveGhosts(before: Model | null, model: Model): void {
    this.ghosts = [];
    if (before === null || before.simple || model.simple || calm()) return;
    for (let at = 0; at < before.size; at++) {
      if (model.positions.has(before.keys[at]!)) continue;
      const place = this.screenPlace(at);
      this.ghosts.push({ ...place, radius: this.screenRadius(at), colour: before.colours[at]!, square: before.roles[at] === "cell" });
    }
    this.ghostsUntil = performance.now() + GLIDE;
  }

  private resized(): void {
    const { width, height } = this.sigma.getDimensions();
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, width * ratio);
    this.canvas.height = Math.max(1, height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.overlay.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    requestAnimationFrame(() => this.resizeNodes()); // not within sigma's own drawing, which knows no new nodes yet
    this.later();
  }

  /** Adjusts the size of nodes after the stage was resized. */
  private resizeNodes(): void {
    const { model } = this;
    if (model === null || this.laid.length !== model.size || this.alive.signal.aborted) return;
    const [xs, ys] = [Float64Array.from(this.laid, (place) => place[0]), Float64Array.from(this.laid, (place) => place[1])];
    const stretch = stretchOf(boxOf(xs, ys), this.sigma.getDimensions());
    for (let at = 0; at < model.size; at++) [xs[at], ys[at]] = [xs[at]! * stretch[0], ys[at]! * stretch[1]];
    const box = boxOf(xs, ys);
    const unit = unitOf(box, this.sigma.getDimensions());
    const same = stretch.every((by, axis) => Math.abs(by / this.stretch[axis]! - 1) < 0.05);
    if (same && Math.abs(unit / this.unit - 1) < 0.1) return;
    this.gliding++;
    [this.unit, this.stretch, this.xs, this.ys] = [unit, stretch, xs, ys];
    this.sigma.setCustomBBox(box);
    this.sigma.getGraph().updateEachNodeAttributes(
      (node, attributes) => {
        attributes.x = xs[Number(node)];
        attributes.y = ys[Number(node)];
        attributes.size = radiusOf(model.roles[Number(node)]!, model.degrees[Number(node)]!, unit);
        return attributes;
      },
      { attributes: ["x", "y", "size"] },
    );
  }

  /** Draws the canvas above the network with the next frame. */
  later(): void {
    if (this.frame !== 0 || this.alive.signal.aborted) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    if (this.model === null) return;
    const left = this.ghostsUntil - performance.now();
    if (left <= 0) this.ghosts = [];
    drawOverlay(this.overlay, {
      model: this.model,
      look: this.look,
      stage: this,
      focus: this.focus,
      selected: this.selected,
      ghosts: this.ghosts,
      fade: Math.max(0, left / GLIDE),
      outline: this.outline,
    });
    if (this.ghosts.length > 0) this.later();
  }

  private listen(): void {
    const captor = this.sigma.getMouseCaptor();
    this.sigma.on("enterNode", ({ node }) => this.dragging === null && this.events.enter(Number(node)));
    this.sigma.on("leaveNode", () => this.dragging === null && this.events.leave());
    this.sigma.on("clickNode", ({ node }) => !this.moved && this.events.click(Number(node)));
    this.sigma.on("clickStage", () => !this.moved && this.events.click(null));
    for (const name of ["doubleClickNode", "rightClickNode"] as const) {
      this.sigma.on(name, ({ node, event, preventSigmaDefault }) => {
        preventSigmaDefault();
        event.original.preventDefault();
        this.events.menu(Number(node), { x: event.x, y: event.y });
      });
    }
    this.sigma.on("downNode", ({ node, event }) => {
      if ((event.original as MouseEvent).button === 2) return;
      this.dragging = Number(node);
      this.moved = false;
    });
    this.sigma.on("downStage", () => (this.moved = false));
    this.sigma.on("moveBody", ({ event, preventSigmaDefault }) => {
      if (this.dragging === null) return;
      preventSigmaDefault();
      event.original.preventDefault();
      const now = this.screenPlace(this.dragging);
      if (!this.moved && Math.hypot(now.x - event.x, now.y - event.y) < 5) return;
      this.gliding++;
      this.moved = true;
      const place = this.sigma.viewportToGraph(event);
      [this.xs[this.dragging], this.ys[this.dragging]] = [place.x, place.y];
      this.sigma.getGraph().mergeNodeAttributes(String(this.dragging), { x: place.x, y: place.y });
    });
    const drop = (): void => {
      if (this.dragging !== null && this.moved) {
        this.events.dragged(this.dragging, [this.xs[this.dragging]! / this.stretch[0], this.ys[this.dragging]! / this.stretch[1]]);
      }
      this.dragging = null;
    };
    captor.on("mouseup", drop);
    window.addEventListener("mouseup", drop, { signal: this.alive.signal });
  }
}

/** Yields to the browser between two parts of long work. */
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

function nodeAttributes(model: Model, at: number, look: Look, unit: number) {
  const role = model.roles[at]!;
  const colour = model.colours[at]!;
  const hollow = role === "neighbor" || role === "brought" || role === "pinned";
  return {
    size: radiusOf(role, model.degrees[at]!, unit),
    shape: role === "cell" ? SQUARE : DISC,
    color: hollow ? look.background : colour,
    rim: hollow ? (role === "pinned" ? look.accent : colour) : look.background,
  };
}

/** `faint` is from 0 to 1, smaller for dense networks. */
function linkAttributes(model: Model, link: number, look: Look, faint: number) {
  const [one, two] = [model.roles[model.source[link]!], model.roles[model.target[link]!]];
  const membership = one === "cell" || two === "cell";
  const inner = one === "query" && two === "query";
  const heavy = model.heaviest > 0 ? Math.sqrt(model.weight[link]! / model.heaviest) : 0;
  const label = inner ? sameColour(model, link) : null;
  const [colour, alpha] = membership ? look.membership : label !== null ? [label, look.inner[1]] : inner ? look.inner : look.link;
  const size = membership ? 1.3 : 0.7 + (inner ? 3.2 : 2) * heavy * Math.sqrt(faint);
  return { size, color: premultiplied(colour, alpha * (membership ? Math.max(0.05, faint * Math.min(1, (4 * model.size) / model.drawn.length)) : inner ? Math.sqrt(faint) : faint)), dashed: membership };
}
