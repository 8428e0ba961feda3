// How the tests run: on the sources, with two files more at once than there are cores.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { defineConfig } from "vitest/config";
import { hasRestate } from "./packages/restate/test/restate-server.ts";
import { hasChromium } from "./test/browser/find-chromium.ts";
import { bundledThreads } from "./test/support/bundle-threads.ts";
import { installedProgram } from "./test/support/installed-program.ts";

const source = "andante-source";

// On Linux x64 an npm package brings the browser; elsewhere the pages are tested where one is installed.
const withoutBrowser = hasChromium ? [] : ["test/browser/**"];
if (!hasChromium) process.stderr.write("No Chromium here: the tests in test/browser are left out\n");

// `.ci/run` fetches these where it can.
const has = (...names: string[]) => names.every((name) => installedProgram(name) !== undefined);
const hasProxies = has("nginx", "caddy");
const hasPatroni = has("patroni", "etcd", "haproxy", "pg_rewind") && existsSync("/usr/bin/python3");
const withoutPrograms = [
  ...(hasProxies ? [] : ["test/deploy/proxies.ci.test.ts"]),
  ...(hasPatroni ? [] : ["test/cluster/patroni-campaign.ci.test.ts"]),
  ...(hasRestate ? [] : ["test/cluster/restate-campaign.ci.test.ts"]),
];

// Every store starts a thread and many tests start processes, which would strip and compile the same sources again each
// time. Inherited by them, this takes more than half of the processor time from a file that starts a server per test.
process.env.NODE_COMPILE_CACHE ??= path.join(
  import.meta.dirname,
  "node_modules",
  ".cache",
  "andante-compile",
);

// What needs a cluster, a scaffolded project or a browser with much to show is named *.ci.test.ts: `.ci/run` runs those in a
// step of their own (ANDANTE_TESTS=ci), and `npm test` stays short.
const all = ["packages/*/{src,test}/**/*.test.ts", "examples/*/src/**/*.test.ts", "test/**/*.test.ts"];
const forCi = ["packages/*/test/**/*.ci.test.ts", "examples/*/src/**/*.ci.test.ts", "test/**/*.ci.test.ts"];
const isCi = process.env.ANDANTE_TESTS === "ci";
if (isCi && !hasProxies) process.stderr.write("No nginx or Caddy here: their tests are left out\n");
if (isCi && !hasPatroni)
  process.stderr.write("No Patroni, etcd, HAProxy or PostgreSQL 15 here: their test is left out\n");
// The contract once more, with PostgreSQL in place of the memory (ANDANTE_TESTS=postgres).
const onPostgres = process.env.ANDANTE_TESTS === "postgres";
// The tests of the store on Restate, and the contract on it (ANDANTE_TESTS=restate).
const forRestate = ["packages/restate/test/**/*.restate.test.ts"];
const onRestate = process.env.ANDANTE_TESTS === "restate";
if (onRestate && !hasRestate)
  process.stderr.write("No Restate server for this platform: its tests are left out\n");
const contract = ["test/contract/**/*.test.ts"];
const restate = hasRestate ? [...forRestate, ...contract] : [];
const include = onRestate ? restate : onPostgres ? contract : isCi ? forCi : all;
const exclude = [
  "**/node_modules/**",
  ...withoutBrowser,
  ...withoutPrograms,
  ...(isCi ? [] : forCi),
  ...(onRestate ? [] : forRestate),
];

// Loading the modules for each file took more than half of the time of the whole, so most files share a process. Tests
// beside the sources keep nothing and share our own modules too; those that drive servers get these anew, with their state.
const units = ["packages/*/src/**/*.test.ts"];
const sharing = [
  "packages/core/test/**/*.test.ts",
  "test/{auth,client,contract,embedding,hardening,observe,providers}/**/*.test.ts",
];
// They replace modules of Node, look at the whole process or end threads that it started: a process each.
const alone = [
  "packages/core/test/execution/{load-agents,process-exit,search-indexer}.test.ts",
  "packages/core/test/properties/*.test.ts",
  "packages/core/test/store/*.test.ts",
  "test/hardening/{constant-time,schemas}.test.ts",
];
// Some of the tests with servers need the console's files; a run of units alone does not build them.
const buildsConsole = "./test/support/build-console.ts";
const bundlesThreads = "./test/support/bundle-threads.ts";
const ofProject = (name: string, test: object) => ({
  extends: true as const,
  test: { name, exclude, ...test },
});
const projects = [
  ofProject("units", { include: units, isolate: false, globalSetup: [bundlesThreads] }),
  ofProject("servers", {
    include: sharing,
    exclude: [...exclude, ...alone],
    isolate: false,
    globalSetup: [bundlesThreads, buildsConsole],
    setupFiles: ["./test/support/fresh-modules.ts"],
  }),
  ofProject("alone", { include: alone, globalSetup: [bundlesThreads] }),
  ofProject("processes", {
    include,
    exclude: [...exclude, ...units, ...sharing],
    globalSetup: [bundlesThreads, buildsConsole],
  }),
];

export default defineConfig({
  // Without "import": Vitest gives these conditions to Node, which would then hand modules to `require`, as pg-pool does.
  ssr: { resolve: { conditions: [source, "node"] } },
  plugins: [bundledThreads()],
  test: {
    ...(isCi || onPostgres || onRestate
      ? {
          include,
          exclude,
          globalSetup: [
            bundlesThreads,
            buildsConsole,
            ...(onPostgres ? ["./test/support/postgres-for-run.ts"] : []),
            ...(onRestate && hasRestate ? ["./test/support/restate-for-run.ts"] : []),
          ],
        }
      : { projects }),
    // There may be none of them, but never none of the others.
    passWithNoTests: isCi || (onRestate && !hasRestate),
    // Processes, not threads: tests start servers, database threads and child processes of their own.
    pool: "forks",
    // More than cores: many files wait for timers and processes for most of their time; those for CI alone less of it.
    maxWorkers: availableParallelism() + (isCi ? 1 : onPostgres || onRestate ? 0 : 2),
    execArgv: [`--conditions=${source}`],
    reporters: ["default", "./scripts/count-reporter.ts"],
    // What is polled for is there within milliseconds; the usual 50 between two looks was most of the waiting.
    // The timeout is for an event that never comes; one that comes may take seconds on a machine that does other work too.
    expect: { poll: { interval: 5, timeout: 30_000 } },
    // `.ci/run` asks for a second try: one test of ten thousand that a busy machine delays is listed and stops nothing.
    retry: Number(process.env.ANDANTE_RETRIES ?? 0),
    testTimeout: isCi || onPostgres || onRestate ? 180_000 : 60_000,
    hookTimeout: 180_000,
  },
});
