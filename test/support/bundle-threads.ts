// Bundles the threads of the sources before the tests: a thread that loads its sources one by one costs 130 ms of
// processor time and a bundled one 60 ms, and the tests start thousands of them.
import { cpSync, existsSync, rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "tsdown";
import type { Plugin } from "vitest/config";

const core = path.resolve(import.meta.dirname, "../../packages/core/src");
const threads = ["store/sqlite/thread.ts", "agent/schema/schema-thread.ts"];
// A folder for each run: another one in the same checkout may have other sources.
const folder = path.resolve(import.meta.dirname, `../../node_modules/.cache/andante-threads-${process.pid}`);

export default async function setup(): Promise<() => void> {
  if (!existsSync(folder)) await bundle();
  return () => rmSync(folder, { recursive: true, force: true });
}

async function bundle(): Promise<void> {
  for (const file of threads) {
    await build({
      config: false,
      entry: path.join(core, file),
      outDir: folder,
      platform: "node",
      clean: false,
      dts: false,
      logLevel: "error",
    });
  }
  cpSync(path.join(core, "store/sqlite/migrations"), path.join(folder, "migrations"), { recursive: true });
}

/** Lets the sources under test start the bundled threads. */
export function bundledThreads(): Plugin {
  return {
    name: "bundled-threads",
    enforce: "pre",
    transform(code, id) {
      if (!/\/(thread-life|schema-checker)\.ts$/.test(id)) return undefined;
      const replaced = code.replace(/"\.\/([a-z-]*thread)\.ts"( :)/, (_, name: string, rest: string) => {
        const file = path.join(folder, `${name}.mjs`);
        return JSON.stringify(pathToFileURL(file)) + rest;
      });
      if (replaced === code) throw new Error(`${id} starts no thread any more`);
      return { code: replaced, map: null };
    },
  };
}
