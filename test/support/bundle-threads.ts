// Bundles the threads of the sources before the tests: a thread that loads its sources one by one costs 130 ms of
// processor time and a bundled one 60 ms, and every server of a test starts one.
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "tsdown";
import type { Plugin } from "vitest/config";

const core = path.resolve(import.meta.dirname, "../../packages/core/src");
const threads = ["store/sqlite/thread.ts", "agent/schema/schema-thread.ts"];
// A folder for each run: another one in the same checkout may have other sources.
const folder = path.resolve(import.meta.dirname, `../../node_modules/.cache/andante-threads-${process.pid}`);

// Every project of the run has this setup, some of them at the same time: the first bundle stays.
export default async function setup(): Promise<() => void> {
  mkdirSync(path.dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  await bundle(made);
  if (!existsSync(folder)) renameSync(made, folder);
  return () => {
    for (const each of [made, folder]) rmSync(each, { recursive: true, force: true });
  };
}

async function bundle(outDir: string): Promise<void> {
  for (const file of threads) {
    const entry = path.join(core, file);
    await build({
      config: false,
      entry,
      outDir,
      platform: "node",
      clean: false,
      dts: false,
      logLevel: "error",
    });
  }
  cpSync(path.join(core, "store/sqlite/migrations"), path.join(outDir, "migrations"), { recursive: true });
}

/** Lets the sources under test start the bundled threads. The folder is a variable: transformed sources are kept for other runs. */
export function bundledThreads(): Plugin {
  process.env.ANDANTE_TEST_THREADS = pathToFileURL(folder).href;
  return {
    name: "bundled-threads",
    enforce: "pre",
    transform(code, id) {
      if (!/\/(thread-life|schema-checker)\.ts$/.test(id)) return undefined;
      const bundled = `process.env.ANDANTE_TEST_THREADS + "/$1.mjs" :`;
      const replaced = code.replace(/"\.\/([a-z-]*thread)\.ts" :/, bundled);
      if (replaced === code) throw new Error(`${id} starts no thread any more`);
      return { code: replaced, map: null };
    },
  };
}
