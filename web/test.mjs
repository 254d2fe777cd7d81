// Compiles the tests of src/*.test.ts and runs them by node's own runner.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const tests = (await readdir(join(here, "src"))).filter((name) => name.endsWith(".test.ts"));
const out = await mkdtemp(join(tmpdir(), "cube2net-page-"));
try {
  await esbuild.build({
    absWorkingDir: here,
    entryPoints: tests.map((name) => `src/${name}`),
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: out,
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  process.exitCode = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
