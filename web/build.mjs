// Bundles the page into the package: explorer.js, explorer.css, index.html, and widget.js and widget.css for notebooks.
import { copyFile, mkdir, readFile } from "node:fs/promises";
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

/**
 * The rules as a notebook needs them: they weigh more than its own (of :is() the heaviest counts, here that of an id),
 * and what is dark is what the widget says of the notebook.
 */
const inNotebook = {
  name: "in-notebook",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const dark = /@media \(prefers-color-scheme: dark\) \{\s*\.c2n \{/g;
      const text = (await readFile(path, "utf8")).replace(dark, '@media all { .c2n[data-theme="dark"] {');
      return { contents: text.replace(/\.c2n(?![\w-])/g, ":is(.c2n, #c2n)"), loader: "css" };
    });
  },
};

const bundles = [
  { ...shared, entryPoints: { explorer: "src/main.ts" }, outdir: out },
  { ...shared, entryPoints: { widget: "src/widget.ts" }, outdir: out, plugins: [inNotebook] },
].filter((bundle) => Object.values(bundle.entryPoints).every((path) => existsSync(join(here, path))));

await mkdir(out, { recursive: true });
for (const name of ["index.html", "icon.svg"]) await copyFile(join(here, name), join(out, name));
if (process.argv.includes("--watch")) {
  for (const bundle of bundles) await (await esbuild.context(bundle)).watch();
} else {
  for (const bundle of bundles) await esbuild.build(bundle);
}
