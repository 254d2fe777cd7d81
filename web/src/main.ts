// The page of the explorer.
import "./page.css";
import { followAddress } from "./address";
import { mount } from "./app";
import { httpClient, refusalOf } from "./client";
import { showRefusal } from "./refusal_page";
import { Store } from "./state";

async function start(root: HTMLElement): Promise<void> {
  root.replaceChildren();
  const client = httpClient();
  let store: Store;
  try {
    store = new Store(client, await client.ask("cube", {}));
  } catch (error) {
    document.documentElement.dataset.state = "error";
    showRefusal(root, refusalOf(error), () => void start(root));
    return;
  }
  document.title = `${store.cube.name} · cube2net`;
  watch(store);
  mount(root, store);
  await followAddress(store);
}

/** Says on the document what is going on, for whoever tests or scripts the page. */
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
