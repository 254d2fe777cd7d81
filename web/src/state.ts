// What the page knows: one store that every part reads and listens to, and that alone asks for networks.
import type { Client, Refusal } from "./client";
import { refusalOf, stopped } from "./client";
import { same, shortest, withoutWords } from "./asks";
import { cellTitle, lacking, sameNode, toggled } from "./nodes";
import { carried, type Place } from "./places";
import { memoryTrail, type Trail } from "./trails";
import type { NetworkRequest, CubeAnswer, Id, NetworkAnswer, Node, PriceSchema, ProgressSchema } from "./types";

export type Phase = "empty" | "ready" | "busy" | "error";

/** What is being made, and how far it is; told is null until something is said. */
export interface Busy {
  readonly what: "construct" | "layout";
  readonly told: ProgressSchema | null;
}

/** What was refused: the sentence, and the question that was asked in vain. */
export interface Failed {
  readonly refusal: Refusal;
  readonly ask: NetworkRequest;
}

export type Part = "ask" | "edited" | "given" | "network" | "places" | "prices" | "selected" | "busy" | "error" | "trail" | "names";
export type Listener = (changed: ReadonlySet<Part>) => void;
/** Fills an element; what it begins to listen to, watch or draw ends with the signal. */
export type Mount = (root: HTMLElement, store: Store, ended: AbortSignal) => void;

/** A network of more nodes is laid out anew, without the places of the one before. */
const MOST_STARTS = 20_000;

/** The query as it is edited: objects and labels that no network has been made of yet. */
export type EditedQuery = Required<Pick<NetworkRequest, "query" | "labels">>;

/** Steps within the query as it is edited: they are taken back before moves are. */
export interface Edits {
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  undo(): void;
  redo(): void;
}

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
  ask: NetworkRequest = { query: [] };
  network: NetworkAnswer | null = null;
  places: Place[] | null = null;
  placed = false;
  prices: PriceSchema[] = [];
  selected: Node | null = null;
  busy: Busy | null = null;
  error: Failed | null = null;
  /** The question whose work was stopped: the network shown is of another one. */
  halted: NetworkRequest | null = null;
  /** Where a node is in the window, for whoever tests or scripts the page; the network view says it. */
  readonly debug: { placeOf?: (id: Id) => { x: number; y: number } | null } = {};
  /** The query as it is edited, where it is not that of the question. */
  edited: EditedQuery | null = null;
  edits: Edits | null = null;
  /** Names with their labels that came with an address, and of which it is not clear whom they mean. */
  given: readonly (readonly [name: string, label: string])[] = [];
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

  /** Hands over names of which it is not clear whom they mean. */
  give(names: readonly (readonly [name: string, label: string])[]): void {
    this.given = names;
    if (names.length > 0) this.tell("given");
  }

  /** Notes the query as it is edited. */
  edit(query: EditedQuery): void {
    const { query: ids, labels = null } = this.ask;
    this.edited = same(query, { query: ids, labels }) ? null : query;
    this.tell("edited");
  }

  get canUndo(): boolean {
    return this.edits?.canUndo || this.trail.canGoBack;
  }

  get canRedo(): boolean {
    return this.edits?.canRedo || this.trail.canGoForward;
  }

  /** Takes back the last step: of the query as it is edited, else the last move. */
  undo(): void {
    if (this.edits?.canUndo) this.edits.undo();
    else this.trail.back();
  }

  redo(): void {
    if (this.edits?.canRedo) this.edits.redo();
    else this.trail.forward();
  }

  /**
   * Changes the question and asks for its network; a move in flight is superseded.
   *
   * A query that was edited meanwhile is the one that is asked for, unless nobody is left in it.
   */
  async move(change: Partial<NetworkRequest>, { settled = true }: Moving = {}): Promise<void> {
    const before = this.ask;
    const edited = change.query === undefined && this.edited?.query.length ? this.edited : {};
    this.ask = shortest({ ...before, ...edited, ...change });
    if (change.query !== undefined || "query" in edited) this.edited = null;
    if (this.held || same(before, this.ask)) this.trail.replace(this.ask, !settled);
    else this.trail.push(this.ask);
    this.held = !settled;
    this.tell("ask", "trail");
    await this.make();
  }

  /** Begins with a question: there is no step back from it. */
  async open(ask: NetworkRequest): Promise<void> {
    this.trail.replace(shortest(ask));
    await this.arrive(ask);
  }

  /** Takes a question from an address or from the trail. */
  async arrive(ask: NetworkRequest): Promise<void> {
    this.ask = shortest(ask);
    this.edited = null;
    this.held = false;
    this.tell("ask", "trail");
    await this.make();
  }

  /** Asks once more for what was refused or stopped. */
  async retry(): Promise<void> {
    if (this.halted) this.put(this.halted);
    await this.make();
  }

  /** Puts a question in place of the one that stands, without asking it. */
  private put({ cube: _, ...ask }: NetworkRequest): void {
    this.ask = shortest(ask);
    this.trail.replace(this.ask);
    this.tell("ask", "trail");
  }

  /** Ends the work in flight; the last network stays and its question stands again, `halted` is the one stopped. */
  stop(): void {
    if (!this.flight) return;
    this.halted = this.busy?.what === "construct" ? this.ask : null;
    this.end();
    if (this.halted && this.network) this.put(this.network.ask);
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
  private async tellFurther(ask: NetworkRequest, flight: AbortController): Promise<void> {
    const steered = (ask.pins?.length ?? 0) + (ask.bans?.length ?? 0) > 0;
    const told = [this.nameUnknown(ask, flight), ...(steered ? [this.price(ask, flight)] : [])];
    await Promise.all(told.map((one) => one.catch((error: unknown) => stopped(error) || console.warn(refusalOf(error).sentence))));
  }

  /** Asks for the names of objects that are not in the network: those banned, liked or disliked. */
  private async nameUnknown(ask: NetworkRequest, flight: AbortController): Promise<void> {
    const nodes = [...(ask.pins ?? []), ...(ask.bans ?? [])].flatMap((node) => ("object" in node ? [node.object] : []));
    const ids = [...nodes, ...(ask.like ?? []), ...(ask.unlike ?? [])].filter((id) => !this.known.has(id));
    if (ids.length === 0) return;
    const text = ["object", ...ids.map((id) => `"${String(id).replaceAll('"', '""')}"`)].join("\n");
    const { rows } = await this.client.ask("names", { text }, { signal: flight.signal });
    for (const row of rows) if (row.id !== null) this.learn(row.id, row.name);
    this.tell("names");
  }

  private async price(ask: NetworkRequest, flight: AbortController): Promise<void> {
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

  private working(what: Busy["what"], flight: AbortController, told: ProgressSchema | null = null): void {
    if (flight.signal.aborted || this.flight !== flight) return;
    this.busy = { what, told };
    this.tell("busy", "error");
  }

  private how(what: Busy["what"], flight: AbortController) {
    return { signal: flight.signal, progress: (told: ProgressSchema) => this.working(what, flight, told) };
  }

  private tell(...parts: Part[]): void {
    const changed = new Set(parts);
    for (const listener of [...this.listeners]) listener(changed);
  }
}
