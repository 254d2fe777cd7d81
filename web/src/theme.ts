// Light or dark: the theme of the notebook, else of the system.
import type { Theme } from "./palette";

const ATTRIBUTES = ["class", "theme", "data-jp-theme-light"];

/** The attributes of a document that tell the theme. */
export interface Themed {
  documentElement: { getAttribute(name: string): string | null };
  body: { getAttribute(name: string): string | null };
}

/** The theme of JupyterLab, VS Code or Colab; null elsewhere. */
export function hostTheme({ documentElement, body }: Themed): Theme | null {
  const lab = body.getAttribute("data-jp-theme-light");
  if (lab !== null) return lab === "false" ? "dark" : "light";
  const code = (body.getAttribute("class") ?? "").split(/\s+/).filter((word) => word.startsWith("vscode-"));
  if (code.includes("vscode-light") || code.includes("vscode-high-contrast-light")) return "light";
  if (code.includes("vscode-dark") || code.includes("vscode-high-contrast")) return "dark";
  const colab = documentElement.getAttribute("theme");
  return colab === null ? null : colab === "dark" ? "dark" : "light";
}

const systemDark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

export const themeNow = (): Theme => hostTheme(document) ?? (systemDark().matches ? "dark" : "light");

/** Calls a function with every new theme, until a signal. */
export function onTheme(changed: (theme: Theme) => void, ended: AbortSignal): void {
  let before = themeNow();
  const look = (): void => {
    const now = themeNow();
    if (now === before) return;
    before = now;
    changed(now);
  };
  const told = new MutationObserver(look);
  for (const element of [document.documentElement, document.body]) told.observe(element, { attributes: true, attributeFilter: ATTRIBUTES });
  systemDark().addEventListener("change", look, { signal: ended });
  ended.addEventListener("abort", () => told.disconnect());
}
