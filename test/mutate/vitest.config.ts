// How the tests run against mutated sources: the quick suites, with the store's operations on the test's own thread.
import { chmodSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vitest/config";
import { defineConfig } from "vitest/config";
import { NearestFirst } from "./nearest-first.ts";

const root = path.resolve(import.meta.dirname, "../..");
// A test of the store reads the sources as another user; the sandbox is made for its owner alone.
chmodSync(root, 0o755);

/** The tests that say something about a package's rooms. More would find little more, and cost hours. */
const suites: Readonly<Record<string, string[]>> = {
  core: [
    "packages/core/src/{agent,execution,journal,observe,store,test-kit,workflow}/**/*.test.ts",
    "packages/core/test/**/*.test.ts",
    "test/{contract,hardening,observe,providers}/**/*.test.ts",
    "test/auth/{activity,authorize,outline,user-injection,who}.test.ts",
    "test/client/{agents,calls}.test.ts",
  ],
  server: [
    "packages/server/src/{auth,socket}/**/*.test.ts",
    "packages/server/src/{app,unknown-options}.test.ts",
    "test/{auth,embedding,hardening}/**/*.test.ts",
    "test/contract/socket.test.ts",
    "test/observe/*-sockets.test.ts",
  ],
};

// Tests that start processes cannot see the fault that is switched on; tests that measure time cost more than they find.
const elsewhere = [
  // Those of MCP drive its client in the test's own process.
  "**/!(mcp-servers).ci.test.ts",
  "packages/core/test/execution/process-exit.test.ts",
  "test/auth/{description,pages}.test.ts",
  "test/contract/{console,doc,fingerprint,shutdown,slow-agent-client,slow-client}.test.ts",
  "test/hardening/{connections,health,linear-patterns,schemas,shutdown,sockets}.test.ts",
  "test/observe/lint-metrics.test.ts",
];

export default defineConfig({
  root,
  plugins: [mutatedSources()],
  // Without "import": see the configuration of the other tests.
  ssr: { resolve: { conditions: ["andante-source", "node"] } },
  test: {
    include:
      process.env.ANDANTE_MUTATE_TESTS?.split(",") ??
      suites[process.env.ANDANTE_MUTATE_PACKAGE ?? ""] ??
      Object.values(suites).flat(),
    exclude: [...elsewhere],
    pool: "forks",
    // A process for each file, which loads all modules again, took twice the time.
    isolate: false,
    sequence: { sequencer: NearestFirst },
    // Sets the time limits, too.
    setupFiles: [path.join(import.meta.dirname, "fresh-modules.ts")],
    execArgv: ["--conditions=andante-source"],
  },
});

/**
 * Resolves the workspaces' packages to the sources beside this file, because the sandbox of a mutation run links to the
 * `node_modules` of the project, which would lead back to the sources that are whole. And hands the store a Worker that
 * runs on the thread of the test.
 */
function mutatedSources(): Plugin {
  const folders = ["core", "server", "demo-model"].map((name) => path.join(root, "packages", name));
  const sources = new Map(folders.flatMap(exportsOf));
  const worker = JSON.stringify(path.join(import.meta.dirname, "worker-on-own-thread.ts"));
  return {
    name: "mutated-sources",
    enforce: "pre",
    resolveId: (source) => sources.get(source),
    // Modules of Node itself are never resolved by plugins.
    transform(code, id) {
      if (!id.endsWith("/store/sqlite/thread-life.ts")) return undefined;
      const replaced = code.replace(/["']node:worker_threads["']/, worker);
      if (replaced === code) throw new Error("thread-life.ts imports no Worker any more");
      return { code: replaced, map: null };
    },
  };
}

function exportsOf(folder: string): [string, string][] {
  const { name, exports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  return Object.entries<Record<string, string>>(exports)
    .filter(([, target]) => target["andante-source"] !== undefined)
    .map(([subpath, target]) => [
      path.posix.join(name, subpath),
      path.join(folder, target["andante-source"] ?? ""),
    ]);
}
