// Bundles the page into the package: explorer.js, explorer.css, index.html, and widget.js and widget.css for notebooks.
import { copyFile, mkdir } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.env.CUBE2NET_PAGE ?? join(here, "..", "src", "cube2net", "page");

const shared = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  legalComments: "none",
  logLevel: "warning",
};

const bundles = [
  { ...shared, entryPoints: { explorer: "src/main.ts" }, outdir: out },
  { ...shared, entryPoints: { widget: "src/widget.ts" }, outdir: out },
].filter((bundle) => Object.values(bundle.entryPoints).every((path) => existsSync(join(here, path))));

await mkdir(out, { recursive: true });
for (const name of ["index.html", "icon.svg"]) await copyFile(join(here, name), join(out, name));
if (process.argv.includes("--watch")) {
  for (const bundle of bundles) await (await esbuild.context(bundle)).watch();
} else {
  for (const bundle of bundles) await esbuild.build(bundle);
}
