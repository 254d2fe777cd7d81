// Actions on a cell or an object, the same in menus, panels and tables.
import { el } from "./dom";
import { nodeKey } from "./nodes";
import type { Store } from "./state";
import type { NetworkRequest, Id, Node } from "./types";

export interface Action {
  name: string;
  /** The label of the button; of a pinned node it is Unpin. */
  text: string;
  on: boolean;
  run(): Promise<void>;
}

const has = (ids: readonly Id[] | undefined, id: Id): boolean => (ids ?? []).some((other) => String(other) === String(id));
const lacking = (ids: readonly Id[] | undefined, id: Id): Id[] => (ids ?? []).filter((other) => String(other) !== String(id));

/** The change of the request that adds or removes an object to stay close to. */
export function preferredChange(request: NetworkRequest, id: Id): Partial<NetworkRequest> {
  return { prefer: has(request.prefer, id) ? lacking(request.prefer, id) : [...(request.prefer ?? []), id] };
}

/** The change of the request that adds objects to the query, with empty labels where the query has labels. */
export function addedChange(request: NetworkRequest, ids: readonly Id[]): Partial<NetworkRequest> {
  const fresh = ids.filter((id) => !has(request.query, id));
  const labels = request.labels ? [...request.labels, ...fresh.map(() => "")] : (request.labels ?? null);
  return { query: [...request.query, ...fresh], labels };
}

/** The change of the request that removes an object from the query. */
export function removedChange(request: NetworkRequest, id: Id): Partial<NetworkRequest> {
  const kept = request.query.flatMap((other, at) => (String(other) === String(id) ? [] : [at]));
  return { query: kept.map((at) => request.query[at]!), labels: request.labels ? kept.map((at) => request.labels![at]!) : null };
}

export function actionsOf(store: Store, node: Node): Action[] {
  const { request } = store;
  const [pinned, banned] = [store.isPinned(node), store.isBanned(node)];
  const actions: Action[] = [
    { name: "pin", text: pinned ? "Unpin" : "Pin", on: pinned, run: () => store.togglePin(node) },
    { name: "ban", text: banned ? "Allow again" : "Ban", on: banned, run: () => store.toggleBan(node) },
  ];
  if ("cell" in node) return actions;
  const id = node.object;
  const queried = has(request.query, id);
  const on = has(request.prefer, id);
  // Objects of the query are always preferred.
  if (on || !queried) actions.push({ name: "prefer", text: on ? "No longer prefer it" : "Prefer it", on, run: () => store.move(preferredChange(request, id)) });
  actions.push({
    name: "query",
    text: queried ? "Remove from the query" : "Add to the query",
    on: queried,
    run: () => store.move(queried ? removedChange(request, id) : addedChange(request, [id])),
  });
  return queried ? actions.filter((action) => action.name !== "ban" && action.name !== "pin") : actions;
}

/** Buttons for the actions on a node; `after` is called when one was used. */
export function actionButtons(store: Store, node: Node, after: () => void = () => undefined): HTMLButtonElement[] {
  return actionsOf(store, node).map((action) =>
    el(
      "button",
      {
        type: "button",
        class: "action",
        "data-action": action.name,
        "data-on": String(action.on && action.name !== "query"),
        onclick: () => {
          after();
          void action.run().catch((error: unknown) => store.refuse(error));
        },
      },
      action.text,
    ),
  );
}

/** The change of the request that applies an action to many nodes. */
export function manyChange(request: NetworkRequest, nodes: readonly Node[], word: "pins" | "bans" | "prefer" | "query", labels?: ReadonlyMap<string, string>): Partial<NetworkRequest> {
  const objects = nodes.flatMap((node) => ("object" in node ? [node.object] : []));
  if (word === "prefer") return { prefer: [...(request.prefer ?? []), ...objects.filter((id) => !has(request.prefer, id))] };
  if (word === "query") {
    const given = objects.map((id) => labels?.get(String(id)) ?? "");
    return { query: objects, labels: given.some((label) => label !== "") ? given : null, pins: [], bans: [], prefer: [] };
  }
  const queried = new Set(request.query.map((id) => nodeKey({ object: id })));
  const fit = nodes.filter((node) => !queried.has(nodeKey(node)));
  const known = new Set((request[word] ?? []).map(nodeKey));
  const chosen = new Set(fit.map(nodeKey));
  const other = word === "pins" ? "bans" : "pins";
  return {
    [word]: [...(request[word] ?? []), ...fit.filter((node) => !known.has(nodeKey(node)))],
    [other]: (request[other] ?? []).filter((node) => !chosen.has(nodeKey(node))),
  };
}
