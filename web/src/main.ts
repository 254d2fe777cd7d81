// The page of the explorer: a cube, or the choice of a data file.
import "./page.css";
import { followAddress } from "./address";
import { mount } from "./app";
import { httpClient, refusalOf, type Client } from "./client";
import { el } from "./dom";
import { showOpening } from "./opening";
import { showMoved, showRefusal } from "./refusal_card";
import { Store } from "./state";
import type { StartAnswer } from "./types";

const OPENING = "#open";

async function start(root: HTMLElement): Promise<void> {
  root.replaceChildren();
  const client = httpClient("/api/v1/", (refusal) => showMoved(root, refusal, reload));
  try {
    const can = await client.ask("start", {});
    if (can.opens && (can.cube === null || location.hash === OPENING)) choose(root, client, can);
    else await explore(root, client, can);
  } catch (error) {
    document.documentElement.dataset.state = "error";
    showRefusal(root, refusalOf(error), () => void start(root));
  }
}

/** Loads the page again, without the request of the cube before. */
function reload(): void {
  history.replaceState(null, "", "/");
  location.reload();
}

/** Shows the choice of a data file; its cube is opened next. */
function choose(root: HTMLElement, client: Client, can: StartAnswer): void {
  document.title = "cube2net";
  document.documentElement.dataset.state = "choosing";
  showOpening(root, client, can, ({ begin }) => {
    history.pushState(null, "", `/${begin}`);
    location.reload();
  });
}

async function explore(root: HTMLElement, client: Client, can: StartAnswer): Promise<void> {
  const store = new Store(client, await client.ask("cube", {}));
  document.title = `${store.cube.name} · cube2net`;
  watch(store);
  mount(root, store);
  if (can.opens) {
    const again = (): void => {
      history.pushState(null, "", `/${OPENING}`);
      location.reload();
    };
    const other = el("button", { type: "button", class: "bare nowrap", "data-do": "open-other", title: "Read the data in another way, or open other data", onclick: again }, "Open data");
    root.querySelector(".head .tools")?.prepend(other);
  }
  await followAddress(store);
}

/** Sets the state of the page on the document, for tests and scripts. */
function watch(store: Store): void {
  const said = document.documentElement.dataset;
  const say = (): void => {
    said.state = store.phase;
    said.fingerprint = store.network?.fingerprint ?? "";
    said.placed = String(store.placed);
  };
  store.subscribe(say);
  say();
  Object.defineProperty(window, "cube2net", { value: Object.freeze({ store }), configurable: true });
}

const root = document.getElementById("page");
if (root) void start(root);
