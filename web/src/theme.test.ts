import assert from "node:assert/strict";
import test from "node:test";
import { hostTheme } from "./theme";

const said = (html: Record<string, string>, body: Record<string, string>) => ({
  documentElement: { getAttribute: (name: string) => html[name] ?? null },
  body: { getAttribute: (name: string) => body[name] ?? null },
});

test("JupyterLab, VS Code and Colab say whether they are dark, each in its way", () => {
  assert.equal(hostTheme(said({}, { "data-jp-theme-light": "false" })), "dark");
  assert.equal(hostTheme(said({}, { "data-jp-theme-light": "true" })), "light");
  assert.equal(hostTheme(said({}, { class: "notebook vscode-dark" })), "dark");
  assert.equal(hostTheme(said({}, { class: "vscode-light" })), "light");
  assert.equal(hostTheme(said({}, { class: "vscode-high-contrast" })), "dark");
  assert.equal(hostTheme(said({}, { class: "vscode-high-contrast vscode-high-contrast-light" })), "light");
  assert.equal(hostTheme(said({ theme: "dark" }, {})), "dark");
  assert.equal(hostTheme(said({ theme: "light" }, {})), "light");
});

test("where nobody says it, the system does", () => {
  assert.equal(hostTheme(said({}, {})), null);
  assert.equal(hostTheme(said({}, { class: "page" })), null);
});
