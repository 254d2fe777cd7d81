// Create elements; text is inserted as text, never as markup.

type Child = globalThis.Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** An element with attributes, listeners (`onclick: …`) and children; a value of null or false is left out. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "value" && "value" in element) (element as HTMLInputElement).value = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is globalThis.Node | string => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces the children of an element. */
export function fill(element: HTMLElement, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is globalThis.Node | string => child !== null && child !== undefined && child !== false));
}

const WHOLE = new Intl.NumberFormat("en-US");
export const number = (value: number): string => WHOLE.format(value);
export const counted = (count: number, one: string, many = `${one}s`): string => `${number(count)} ${count === 1 ? one : many}`;

let serial = 0;
export const freshId = (stem: string): string => `c2n-${stem}-${(serial += 1)}`;
