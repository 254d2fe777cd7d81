// The store: the state of the page, which all parts observe, and the only place that requests networks.
import type { Client, Refusal } from "./client";
import { refusalOf, stopped } from "./client";
import { same, shortest, withoutWords } from "./requests";
import { cellTitle, lacking, sameNode, toggled } from "./nodes";
import { carried, type Place } from "./places";
import { memoryTrail, type Trail } from "./trails";
import type { NetworkRequest, CubeAnswer, Id, NetworkAnswer, Node, PriceSchema, ProgressSchema } from "./types";

export type Phase = "empty" | "ready" | "busy" | "error";

/** Work in progress; told is null until the first progress message. */
export interface Busy {
  readonly what: "construct" | "layout";
  readonly told: ProgressSchema | null;
}

/** A refusal and its request. */
export interface Failed {
  readonly refusal: Refusal;
  readonly request: NetworkRequest;
}

export type Part = "request" | "edited" | "given" | "network" | "places" | "prices" | "selected" | "busy" | "error" | "trail" | "names";
export type Listener = (changed: ReadonlySet<Part>) => void;
/** Mounts a part of the page in an element, until the signal. */
export type Mount = (root: HTMLElement, store: Store, ended: AbortSignal) => void;

/** A larger network is laid out without the places of the previous one. */
const MOST_STARTS = 20_000;

/** The edited query, for which there is no network yet. */
export type EditedQuery = Required<Pick<NetworkRequest, "query" | "labels">>;

/** Undo steps of the edited query, which come before those of requests. */
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
 * The current request, the last network, and the work in progress.
 *
 * `places` are those of `network`'s nodes, in their order, or null before there are any. Right after an answer they
 * are where the nodes were before (`placed` is false), and the layout's when that has come.
 */
export class Store {
  request: NetworkRequest = { query: [] };
  network: NetworkAnswer | null = null;
  places: Place[] | null = null;
  placed = false;
  prices: PriceSchema[] = [];
  selected: Node | null = null;
  busy: Busy | null = null;
  error: Failed | null = null;
  /** The request that was stopped; the network shown is of another one. */
  halted: NetworkRequest | null = null;
  /** The position of a node in the window, for tests and scripts; set by the network view. */
  readonly debug: { placeOf?: (id: Id) => { x: number; y: number } | null } = {};
  /** The edited query, if it differs from that of the request. */
  edited: EditedQuery | null = null;
  edits: Edits | null = null;
  /** Unresolved names with labels from the address. */
  given: readonly (readonly [name: string, label: string])[] = [];
  trail: Trail = memoryTrail((request) => void this.arrive(request));

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

  /** Calls a function after every change with the changed parts, until a signal or a call of the returned function. */
  subscribe(listener: Listener, ended?: AbortSignal): () => void {
    const leave = (): void => void this.listeners.delete(listener);
    this.listeners.add(listener);
    ended?.addEventListener("abort", leave, { once: true });
    return leave;
  }

  /** Passes unresolved names to the list of names. */
  give(names: readonly (readonly [name: string, label: string])[]): void {
    this.given = names;
    if (names.length > 0) this.tell("given");
  }

  /** Sets the edited query. */
  edit(query: EditedQuery): void {
    const { query: ids, labels = null } = this.request;
    this.edited = same(query, { query: ids, labels }) ? null : query;
    this.tell("edited");
  }

  get canUndo(): boolean {
    return this.edits?.canUndo || this.trail.canGoBack;
  }

  get canRedo(): boolean {
    return this.edits?.canRedo || this.trail.canGoForward;
  }

  /** Undoes the last step of the edited query, else the last request. */
  undo(): void {
    if (this.edits?.canUndo) this.edits.undo();
    else this.trail.back();
  }

  redo(): void {
    if (this.edits?.canRedo) this.edits.redo();
    else this.trail.forward();
  }

  /**
   * Changes the request and requests its network; a running request is superseded.
   *
   * An edited query is used, unless it is empty.
   */
  async move(change: Partial<NetworkRequest>, { settled = true }: Moving = {}): Promise<void> {
    const before = this.request;
    const edited = change.query === undefined && this.edited?.query.length ? this.edited : {};
    this.request = shortest({ ...before, ...edited, ...change });
    if (change.query !== undefined || "query" in edited) this.edited = null;
    if (this.held || same(before, this.request)) this.trail.replace(this.request, !settled);
    else this.trail.push(this.request);
    this.held = !settled;
    this.tell("request", "trail");
    await this.make();
  }

  /** Starts with a request, without an undo step. */
  async open(request: NetworkRequest): Promise<void> {
    this.trail.replace(shortest(request));
    await this.arrive(request);
  }

  /** Takes a request from the address or the history. */
  async arrive(request: NetworkRequest): Promise<void> {
    this.request = shortest(request);
    this.edited = null;
    this.held = false;
    this.tell("request", "trail");
    await this.make();
  }

  /** Repeats the request that was refused or stopped. */
  async retry(): Promise<void> {
    if (this.halted) this.put(this.halted);
    await this.make();
  }

  /** Replaces the current request without sending it. */
  private put({ cube: _, ...request }: NetworkRequest): void {
    this.request = shortest(request);
    this.trail.replace(this.request);
    this.tell("request", "trail");
  }

  /** Stops the running request and restores that of the network shown; `halted` is the stopped one. */
  stop(): void {
    if (!this.flight) return;
    this.halted = this.busy?.what === "construct" ? this.request : null;
    this.end();
    if (this.halted && this.network) this.put(this.network.request);
    this.tell("busy", "error");
  }

  private end(): void {
    this.flight?.abort();
    this.flight = null;
    this.busy = null;
  }

  /** Goes back to the request of the network that is shown, after a refusal or a stop. */
  async giveUp(): Promise<void> {
    this.end();
    this.error = null;
    this.halted = null;
    this.tell("busy", "error");
    const { cube: _, ...request } = this.network?.request ?? { query: [] };
    await this.move(withoutWords(this.request, request));
  }

  /** Shows a refusal. */
  refuse(error: unknown): void {
    this.error = { refusal: refusalOf(error), request: this.request };
    this.tell("error");
  }

  select(node: Node | null): void {
    if (sameNode(this.selected, node)) return;
    this.selected = node;
    this.tell("selected");
  }

  /** The name of an object if known, else its id. */
  nameOf(id: Id): string {
    return this.known.get(id) ?? String(id);
  }

  learn(id: Id, name: string): void {
    this.known.set(id, name);
  }

  /** The title of a cell or an object. */
  titleOf(node: Node): string {
    return "cell" in node ? cellTitle(node.cell) : this.nameOf(node.object);
  }

  isPinned = (node: Node): boolean => (this.request.pins ?? []).some((other) => sameNode(node, other));
  isBanned = (node: Node): boolean => (this.request.bans ?? []).some((other) => sameNode(node, other));

  /** Pins or unpins a node. */
  togglePin(node: Node): Promise<void> {
    return this.move({ pins: toggled(this.request.pins, node), bans: lacking(this.request.bans, node) });
  }

  /** Bans or unbans a node. */
  toggleBan(node: Node): Promise<void> {
    return this.move({ bans: toggled(this.request.bans, node), pins: lacking(this.request.pins, node) });
  }

  private async make(): Promise<void> {
    this.flight?.abort();
    this.error = null;
    this.halted = null;
    if (this.request.query.length === 0) {
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
    const request = this.request;
    try {
      this.working("construct", flight);
      const network = await this.client.ask("construct", { request }, this.how("construct", flight));
      if (flight.signal.aborted) return;
      this.show(network);
      this.working("layout", flight);
      const start = this.places?.map((place) => [...place]) ?? [];
      const body = start.length > 0 && start.length <= MOST_STARTS ? { request, start } : { request };
      const { places } = await this.client.ask("layout", body, this.how("layout", flight));
      if (flight.signal.aborted) return;
      this.places = places.map(([x = 0, y = 0]) => [x, y] as const);
      this.placed = true;
      this.busy = null;
      this.tell("places", "busy");
      await this.tellFurther(request, flight);
    } catch (error) {
      if (stopped(error) || flight.signal.aborted) return;
      this.busy = null;
      this.error = { refusal: refusalOf(error), request };
      this.tell("busy", "error");
    } finally {
      if (this.flight === flight) this.flight = null;
    }
  }

  /** Requests names and prices for the network; they are optional, so refusals are ignored. */
  private async tellFurther(request: NetworkRequest, flight: AbortController): Promise<void> {
    const steered = (request.pins?.length ?? 0) + (request.bans?.length ?? 0) > 0;
    const told = [this.nameUnknown(request, flight), ...(steered ? [this.price(request, flight)] : [])];
    await Promise.all(told.map((one) => one.catch((error: unknown) => stopped(error) || console.warn(refusalOf(error).sentence))));
  }

  /** Requests the names of banned and preferred objects, which are not in the network. */
  private async nameUnknown(request: NetworkRequest, flight: AbortController): Promise<void> {
    const nodes = [...(request.pins ?? []), ...(request.bans ?? [])].flatMap((node) => ("object" in node ? [node.object] : []));
    const ids = [...nodes, ...(request.prefer ?? [])].filter((id) => !this.known.has(id));
    if (ids.length === 0) return;
    const text = ["object", ...ids.map((id) => `"${String(id).replaceAll('"', '""')}"`)].join("\n");
    const { rows } = await this.client.ask("names", { text }, { signal: flight.signal });
    for (const row of rows) if (row.id !== null) this.learn(row.id, row.name);
    this.tell("names");
  }

  private async price(request: NetworkRequest, flight: AbortController): Promise<void> {
    const { prices } = await this.client.ask("construct", { request, prices: true }, { signal: flight.signal });
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
