// What the page knows: one store that every part reads and listens to, and that alone asks for networks.
import type { Client, Refusal } from "./client";
import { refusalOf, stopped } from "./client";
import type { Ask, CubeAnswer, Id, NetworkAnswer, Node, PriceShape, ProgressShape } from "./types";

export type Phase = "empty" | "ready" | "busy" | "error";
export type Place = readonly [number, number];

/** What is being made, and how far it is; told is null until something is said. */
export interface Busy {
  readonly what: "construct" | "layout";
  readonly told: ProgressShape | null;
}

/** What was refused: the sentence, and the question that was asked in vain. */
export interface Failed {
  readonly refusal: Refusal;
  readonly ask: Ask;
}

/** Where moves are kept: the addresses of a page, or the memory of a widget. */
export interface Trail {
  push(ask: Ask): void;
  /** Puts a question in place of the last; `soon` while more are to come in its place. */
  replace(ask: Ask, soon?: boolean): void;
  back(): void;
  forward(): void;
  readonly canGoBack: boolean;
  readonly canGoForward: boolean;
}

export type Part = "ask" | "network" | "places" | "prices" | "selected" | "busy" | "error" | "trail" | "names";
export type Listener = (changed: ReadonlySet<Part>) => void;
/** Fills an element; what it begins to listen to, watch or draw ends with the signal. */
export type Mount = (root: HTMLElement, store: Store, ended: AbortSignal) => void;

/** A network of more nodes is laid out anew, without the places of the one before. */
const MOST_STARTS = 20_000;

export interface Moving {
  /** False while a slider is held: the address is replaced and no step to undo is made. */
  settled?: boolean;
}

/**
 * The question as it stands, the network of the last answer, and what is going on.
 *
 * `places` are those of `network`'s nodes, in their order, or null before there are any. Right after an answer they
 * are where the nodes were before (`placed` is false), and the layout's when that has come.
 */
export class Store {
  ask: Ask = { query: [] };
  network: NetworkAnswer | null = null;
  places: Place[] | null = null;
  placed = false;
  prices: PriceShape[] = [];
  selected: Node | null = null;
  busy: Busy | null = null;
  error: Failed | null = null;
  /** The question whose work was stopped: the network shown is of another one. */
  halted: Ask | null = null;
  /** Where a node is in the window, for whoever tests or scripts the page; the network view says it. */
  readonly debug: { placeOf?: (id: Id) => { x: number; y: number } | null } = {};
  trail: Trail = memoryTrail((ask) => void this.arrive(ask));

  private readonly known = new Map<Id, string>();
  private readonly listeners = new Set<Listener>();
  private flight: AbortController | null = null;
  private held = false;

  constructor(
    readonly client: Client,
    readonly cube: CubeAnswer,
  ) {}

  get phase(): Phase {
    if (this.busy) return "busy";
    if (this.error) return "error";
    return this.network ? "ready" : "empty";
  }

  /** Calls a function after every change with the parts that changed; a signal, or what comes back, ends that. */
  subscribe(listener: Listener, ended?: AbortSignal): () => void {
    const leave = (): void => void this.listeners.delete(listener);
    this.listeners.add(listener);
    ended?.addEventListener("abort", leave, { once: true });
    return leave;
  }

  /** Changes the question and asks for its network; a move in flight is superseded. */
  async move(change: Partial<Ask>, { settled = true }: Moving = {}): Promise<void> {
    const before = this.ask;
    this.ask = shortest({ ...before, ...change });
    if (this.held || same(before, this.ask)) this.trail.replace(this.ask, !settled);
    else this.trail.push(this.ask);
    this.held = !settled;
    this.tell("ask", "trail");
    await this.make();
  }

  /** Begins with a question: there is no step back from it. */
  async open(ask: Ask): Promise<void> {
    this.trail.replace(shortest(ask));
    await this.arrive(ask);
  }

  /** Takes a question from an address or from the trail. */
  async arrive(ask: Ask): Promise<void> {
    this.ask = shortest(ask);
    this.held = false;
    this.tell("ask", "trail");
    await this.make();
  }

  /** Asks once more for what was refused. */
  async retry(): Promise<void> {
    await this.make();
  }

  /** Ends the work in flight; the last network stays, and so does the question. */
  stop(): void {
    if (!this.flight) return;
    this.halted = this.busy?.what === "construct" ? this.ask : null;
    this.end();
    this.tell("busy", "error");
  }

  private end(): void {
    this.flight?.abort();
    this.flight = null;
    this.busy = null;
  }

  /** Goes back to the question of the network that is shown, after a refusal or a stop. */
  async giveUp(): Promise<void> {
    this.end();
    this.error = null;
    this.halted = null;
    this.tell("busy", "error");
    const { cube: _, ...ask } = this.network?.ask ?? { query: [] };
    await this.move(withoutWords(this.ask, ask));
  }

  /** Shows why something could not be done. */
  refuse(error: unknown): void {
    this.error = { refusal: refusalOf(error), ask: this.ask };
    this.tell("error");
  }

  select(node: Node | null): void {
    if (sameNode(this.selected, node)) return;
    this.selected = node;
    this.tell("selected");
  }

  /** The name of an object, as far as it has been told; else its id. */
  nameOf(id: Id): string {
    return this.known.get(id) ?? String(id);
  }

  learn(id: Id, name: string): void {
    this.known.set(id, name);
  }

  /** A cell or an object in words. */
  titleOf(node: Node): string {
    return "cell" in node ? cellTitle(node.cell) : this.nameOf(node.object);
  }

  isPinned = (node: Node): boolean => (this.ask.pins ?? []).some((other) => sameNode(node, other));
  isBanned = (node: Node): boolean => (this.ask.bans ?? []).some((other) => sameNode(node, other));

  /** Pins a node, or takes the pin away. */
  togglePin(node: Node): Promise<void> {
    return this.move({ pins: toggled(this.ask.pins, node), bans: lacking(this.ask.bans, node) });
  }

  /** Bans a node, or takes the ban away. */
  toggleBan(node: Node): Promise<void> {
    return this.move({ bans: toggled(this.ask.bans, node), pins: lacking(this.ask.pins, node) });
  }

  private async make(): Promise<void> {
    this.flight?.abort();
    this.error = null;
    this.halted = null;
    if (this.ask.query.length === 0) {
      this.flight = null;
      this.busy = null;
      this.network = null;
      this.places = null;
      this.prices = [];
      this.tell("network", "places", "prices", "busy", "error");
      return;
    }
    const flight = new AbortController();
    this.flight = flight;
    const ask = this.ask;
    try {
      this.working("construct", flight);
      const network = await this.client.ask("construct", { ask }, this.how("construct", flight));
      if (flight.signal.aborted) return;
      this.show(network);
      this.working("layout", flight);
      const start = this.places?.map((place) => [...place]) ?? [];
      const question = start.length > 0 && start.length <= MOST_STARTS ? { ask, start } : { ask };
      const { places } = await this.client.ask("layout", question, this.how("layout", flight));
      if (flight.signal.aborted) return;
      this.places = places.map(([x = 0, y = 0]) => [x, y] as const);
      this.placed = true;
      this.busy = null;
      this.tell("places", "busy");
      await this.tellFurther(ask, flight);
    } catch (error) {
      if (stopped(error) || flight.signal.aborted) return;
      this.busy = null;
      this.error = { refusal: refusalOf(error), ask };
      this.tell("busy", "error");
    } finally {
      if (this.flight === flight) this.flight = null;
    }
  }

  /** Asks for names and prices beside the network; it is good without them, so that a refusal is no error. */
  private async tellFurther(ask: Ask, flight: AbortController): Promise<void> {
    const steered = (ask.pins?.length ?? 0) + (ask.bans?.length ?? 0) > 0;
    const told = [this.nameUnknown(ask, flight), ...(steered ? [this.price(ask, flight)] : [])];
    await Promise.all(told.map((one) => one.catch((error: unknown) => stopped(error) || console.warn(refusalOf(error).sentence))));
  }

  /** Asks for the names of objects that are not in the network: those banned, liked or disliked. */
  private async nameUnknown(ask: Ask, flight: AbortController): Promise<void> {
    const nodes = [...(ask.pins ?? []), ...(ask.bans ?? [])].flatMap((node) => ("object" in node ? [node.object] : []));
    const ids = [...nodes, ...(ask.like ?? []), ...(ask.unlike ?? [])].filter((id) => !this.known.has(id));
    if (ids.length === 0) return;
    const text = ["object", ...ids.map((id) => `"${String(id).replaceAll('"', '""')}"`)].join("\n");
    const { rows } = await this.client.ask("names", { text }, { signal: flight.signal });
    for (const row of rows) if (row.id !== null) this.learn(row.id, row.name);
    this.tell("names");
  }

  private async price(ask: Ask, flight: AbortController): Promise<void> {
    const { prices } = await this.client.ask("construct", { ask, prices: true }, { signal: flight.signal });
    if (flight.signal.aborted) return;
    this.prices = prices;
    this.tell("prices");
  }

  private show(network: NetworkAnswer): void {
    this.places = carried(this.network, this.places, network);
    this.placed = false;
    this.network = network;
    this.prices = network.prices;
    network.nodes.id.forEach((id, place) => network.nodes.labels[place] || this.learn(id, network.nodes.name[place] ?? String(id)));
    this.tell("network", "places", "prices", "names");
  }

  private working(what: Busy["what"], flight: AbortController, told: ProgressShape | null = null): void {
    if (flight.signal.aborted || this.flight !== flight) return;
    this.busy = { what, told };
    this.tell("busy", "error");
  }

  private how(what: Busy["what"], flight: AbortController) {
    return { signal: flight.signal, progress: (told: ProgressShape) => this.working(what, flight, told) };
  }

  private tell(...parts: Part[]): void {
    const changed = new Set(parts);
    for (const listener of [...this.listeners]) listener(changed);
  }
}

/** A trail that is kept in memory. */
export function memoryTrail(arrive: (ask: Ask) => void): Trail {
  const asks: Ask[] = [{ query: [] }];
  let at = 0;
  const go = (step: number): void => {
    const ask = asks[at + step];
    if (ask === undefined) return;
    at += step;
    arrive(ask);
  };
  return {
    push(ask) {
      asks.splice(at + 1, Infinity, ask);
      at += 1;
    },
    replace(ask) {
      asks[at] = ask;
    },
    back: () => go(-1),
    forward: () => go(1),
    get canGoBack() {
      return at > 0;
    },
    get canGoForward() {
      return at < asks.length - 1;
    },
  };
}

/**
 * A question without words that say nothing.
 *
 * The server's own shortest question also leaves out what is so anyway, as method greedy; that is the network's `ask`.
 */
export function shortest(ask: Ask): Ask {
  const said = Object.entries(ask).filter(([, value]) => !saysNothing(value));
  return { query: [], ...Object.fromEntries(said) };
}

function saysNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

export const same = (one: unknown, other: unknown): boolean => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sorted(v)]));
}

/** A change that makes one question another: what the other lacks is unsaid. */
function withoutWords(now: Ask, wanted: Ask): Partial<Ask> {
  return { ...Object.fromEntries(Object.keys(now).map((word) => [word, undefined])), ...wanted };
}

/** A cell as people read it: its labels but for those that stand for all. */
export function cellTitle(labels: readonly string[]): string {
  const said = labels.filter((label) => label !== "∗");
  return said.length === 0 ? "all" : said.join(" · ");
}

export function nodeKey(node: Node): string {
  return "cell" in node ? `c${JSON.stringify(node.cell)}` : `o${JSON.stringify(node.object)}`;
}

export const sameNode = (one: Node | null, other: Node | null): boolean =>
  one === null || other === null ? one === other : nodeKey(one) === nodeKey(other);

const lacking = (nodes: Node[] = [], node: Node): Node[] => nodes.filter((other) => !sameNode(node, other));

function toggled(nodes: Node[] = [], node: Node): Node[] {
  const rest = lacking(nodes, node);
  return rest.length < nodes.length ? rest : [...nodes, node];
}

/** The key of a network's node by its position: the same in every network of the same cube. */
export function keyAt(network: NetworkAnswer, position: number): string {
  return nodeKey(nodeAt(network, position));
}

export function nodeAt(network: NetworkAnswer, position: number): Node {
  const labels = network.nodes.labels[position];
  return labels ? { cell: labels } : { object: network.nodes.id[position] as Id };
}

/** Where the nodes of a network were in the one before; new ones begin amid their neighbours. */
export function carried(before: NetworkAnswer | null, places: Place[] | null, network: NetworkAnswer): Place[] | null {
  if (!before || !places) return null;
  const old = new Map(places.map((place, position) => [keyAt(before, position), place]));
  const known = network.nodes.id.map((_, position) => old.get(keyAt(network, position)) ?? null);
  const sums = network.nodes.id.map(() => [0, 0, 0] as [number, number, number]);
  const meet = (one: number, other: number): void => {
    const place = known[other];
    const sum = sums[one];
    if (!place || !sum) return;
    sum[0] += place[0];
    sum[1] += place[1];
    sum[2] += 1;
  };
  network.links.source.forEach((source, link) => {
    const target = network.links.target[link] as number;
    meet(source, target);
    meet(target, source);
  });
  return known.map((place, position) => {
    const [x, y, n] = sums[position] as [number, number, number];
    return place ?? (n > 0 ? [x / n, y / n] : [0, 0]);
  });
}
