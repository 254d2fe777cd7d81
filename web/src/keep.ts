// The tab Save: files, recipe, command line, Python, address, and the verdict.
import "./keep.css";
import type { ExportedFile } from "./client";
import { refusalOf } from "./client";
import { el } from "./dom";
import type { Store } from "./state";
import { verdict } from "./verdict";
import { fileTitle, sentence } from "./words";

/** The format for spreadsheets, which is offered first. */
const SPREADSHEET = ".xlsx";

const WORDS: [format: string, title: string][] = [
  ["command.txt", "Command line"],
  ["python.txt", "Python"],
];

export function mountKeep(root: HTMLElement, store: Store, ended: AbortSignal): void {
  root.classList.add("keep", "pad");
  const none = el("p", { class: "quiet" }, "Make a network first, then save it here.");
  const told = el("p", { class: "small bad", role: "status", "aria-live": "polite" });
  const body = el("div", { class: "keep" });
  const { exports, pictures, unmade } = store.cube;
  const files = exports.filter((ending) => ending.startsWith(".") && ending !== SPREADSHEET && !pictures.includes(ending));
  const download = (format: string, title = fileTitle(format)): HTMLElement => {
    const why = unmade[format];
    if (why !== undefined) return el("button", { type: "button", "data-export": format, disabled: true, title: sentence(why) }, title);
    const button = el("button", { type: "button", "data-export": format }, title);
    button.addEventListener("click", () => void save(format, button));
    return button;
  };

  async function save(format: string, button: HTMLButtonElement): Promise<void> {
    told.textContent = "";
    button.disabled = true;
    try {
      if (store.network) hand(await store.client.file({ request: store.network.request, format }));
    } catch (error) {
      told.textContent = sentence(refusalOf(error).sentence);
    } finally {
      button.disabled = false;
    }
  }

  const words = WORDS.map(([format, title]) => {
    const pre = el("pre", { tabindex: 0, "aria-label": title, "data-words": format });
    const copy = copying(() => pre.textContent ?? "", `Copy ${title.toLowerCase()}`);
    return { format, pre, element: el("section", {}, el("div", { class: "row between" }, el("h2", {}, title), copy), pre) };
  });
  let shown = "";
  async function write(): Promise<void> {
    const network = store.network;
    if (!network || shown === network.fingerprint + JSON.stringify(network.request)) return;
    shown = network.fingerprint + JSON.stringify(network.request);
    for (const { format, pre } of words) {
      try {
        const { bytes } = await store.client.file({ request: network.request, format });
        if (store.network === network) pre.textContent = new TextDecoder().decode(bytes).trimEnd();
      } catch (error) {
        pre.textContent = sentence(refusalOf(error).sentence);
      }
    }
  }

  body.append(
    el(
      "section",
      { class: "address" },
      el("h2", {}, "Address"),
      el("p", { class: "small quiet" }, "The address of this page contains the request: opening it with the same cube gives the same network."),
      el("div", { class: "row" }, copying(() => location.href, "Copy address", "Copy address")),
    ),
    el("section", {}, el("h2", {}, "Spreadsheet"), el("div", { class: "buttons" }, download(SPREADSHEET))),
    el("section", {}, el("h2", {}, "Picture"), el("div", { class: "buttons" }, ...pictures.map((ending) => download(ending))), whyNot(unmade)),
    el("section", {}, el("h2", {}, "Network"), el("div", { class: "buttons" }, ...files.map((ending) => download(ending)))),
    el(
      "section",
      {},
      el("h2", {}, "Files to repeat it"),
      el("div", { class: "buttons" }, download("recipe.json"), download("query.csv")),
    ),
    ...words.map(({ element }) => element),
    verdict(store, ended),
  );
  root.append(none, told, body);
  const draw = (): void => {
    none.hidden = store.network !== null;
    body.hidden = store.network === null;
    if (root.hidden) return;
    void write();
  };
  const shows = new MutationObserver(draw);
  shows.observe(root, { attributes: true, attributeFilter: ["hidden"] });
  ended.addEventListener("abort", () => shows.disconnect());
  store.subscribe((changed) => changed.has("network") && draw(), ended);
  draw();
}

/** A note on pictures that cannot be made, and why. */
function whyNot(unmade: Record<string, string>): HTMLElement | null {
  const [why] = Object.values(unmade);
  if (why === undefined) return null;
  const named = Object.keys(unmade).map((ending) => ending.slice(1)).join(" and ");
  const needed = /'[^']+'/.exec(why)?.[0].replaceAll("'", "") ?? "another package";
  return el("p", { class: "small quiet", "data-unmade": "" }, `${named} cannot be written because the package ${needed} is missing. In the folder cube2net was installed from, pip install '.[explore,report]' adds it.`);
}

/** Saves a file through the browser. */
export function hand({ name, media_type, bytes }: ExportedFile): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: media_type }));
  const link = el("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function copying(text: () => string, label: string, title = "Copy"): HTMLButtonElement {
  const button = el("button", { type: "button", class: title === "Copy" ? "bare small" : null, "aria-label": label }, title);
  button.addEventListener("click", async () => {
    const done = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false,
    );
    button.textContent = done ? "Copied" : "Select and copy by hand";
    setTimeout(() => (button.textContent = title), 1600);
  });
  return button;
}
