// Runs one of the project's tasks on the project's own Node, after installing missing packages.
//
// Starting the quickstart needs a sixth of the packages of the tests, so a newcomer does not wait for the rest.
//
// Plain JavaScript without dependencies, because it has to start on the Node and npm of the machine
// (Node 20 is enough). Everything after that runs on the Node 24 of the `node` dev dependency.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole } from "./build-console.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const stamp = path.join(root, "node_modules", ".andante-install");
const source = "--conditions=andante-source";
const bin = (name, file) => path.join(root, "node_modules", name, file);

// Each task: the arguments of Node. Tasks see the TypeScript sources of the workspaces, so nothing is built first.
const tasks = {
  start: [source, "examples/quickstart/src/main.ts"],
  cluster: [source, "examples/cluster/src/main.ts"],
  test: [bin("vitest", "vitest.mjs"), "run"],
  check: ["scripts/check.ts"],
  lint: [bin("@biomejs/biome", "bin/biome"), "check", "--error-on-warnings"],
  format: [bin("@biomejs/biome", "bin/biome"), "check", "--write"],
  build: ["scripts/build.ts"],
  comments: ["scripts/comment-words.ts"],
  docs: ["scripts/docs/main.ts"],
  lockfile: ["scripts/lockfile.ts"],
  wire: [source, "scripts/wire.ts"],
  packed: ["scripts/packed.ts"],
  release: ["scripts/release.ts"],
  chaos: [source, "test/chaos/main.ts"],
  "chaos:cluster": [source, "test/cluster/main.ts"],
  "chaos:failover": [source, "test/cluster/patroni-main.ts"],
  mutate: [source, "test/mutate/main.ts"],
  fuzz: [source, "test/fuzz/main.ts"],
  attacks: [source, "test/attacks/main.ts"],
  properties: [bin("vitest", "vitest.mjs"), "run", "packages/core/test/properties/properties.test.ts"],
  bench: [source, "--expose-gc", "bench/engine/main.ts"],
  "bench:growth": [source, "bench/growth/main.ts"],
  "bench:http": [source, "bench/http/main.ts"],
  "bench:floor": [source, "bench/http/floor.ts"],
  "bench:compare": [source, "bench/compare.ts"],
  "bench:agents": [source, "bench/agents/main.ts"],
  "bench:observe": [source, "bench/observe/main.ts"],
  "bench:mcp": [source, "bench/mcp/main.ts"],
  "bench:boot": [source, "bench/boot/main.ts"],
  "bench:console": [source, "bench/console/main.ts"],
  "bench:cluster": [source, "bench/cluster/main.ts"],
  "bench:triggers": [source, "bench/triggers/main.ts"],
  "bench:scale": [source, "bench/scale/main.ts"],
  "bench:smoke": [source, "bench/smoke.ts"],
  "bench:all": ["bench/all.ts"],
  node: [source],
};

const [task, ...rest] = process.argv.slice(2);
const command = tasks[task];
if (command === undefined) {
  console.error(`Unknown task "${task ?? ""}". Tasks: ${Object.keys(tasks).join(", ")}`);
  process.exit(2);
}

const lockfile = readFileSync(path.join(root, "package-lock.json"), "utf8");
const lock = createHash("sha256").update(lockfile).digest("hex");
const scope = task === "start" ? "quickstart" : "all";
const installed = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
if (installed !== `${lock} all` && installed !== `${lock} ${scope}`) await install();

const binaries = path.join(root, "node_modules", "node", "bin");
// The tests run the same workflows each time, this task others for ten minutes by default.
if (task === "properties") process.env.ANDANTE_PROPERTIES_SECONDS ??= "600";
// Compiled code, stripped of types, is kept for the next start.
if (task === "start")
  process.env.NODE_COMPILE_CACHE ??= path.join(root, "node_modules", ".cache", "andante-start");
// The examples print the address of a page of it.
if (task === "start" || task === "cluster" || task === "node") {
  const tell = () =>
    console.error("Building the console (the first time, and when its sources have changed) …");
  const problem = buildConsole(path.join(binaries, "node"), tell);
  if (problem !== undefined) console.error(`The console could not be built:\n${problem}`);
}
const environment = { ...process.env, PATH: `${binaries}${path.delimiter}${process.env.PATH ?? ""}` };
process.exitCode = await run(path.join(binaries, "node"), [...command, ...rest], environment);

async function install() {
  if (isInstalled()) return remember("all");
  console.error("Installing dependencies (the first time only) …");
  // `npm ci` removes an installation first. One for the quickstart alone is kept, because it may be running.
  const args = installed === `${lock} quickstart` ? ["install", "--no-save"] : ["ci"];
  args.push("--no-audit", "--no-fund", "--loglevel=error");
  // The console is built on the first start.
  if (scope === "quickstart")
    args.push("--workspace", "examples/quickstart", "--workspace", "packages/console");
  // npm sets npm_execpath for its scripts: the same npm installs, also where it is not on the path.
  const npm = process.env.npm_execpath;
  const code = npm
    ? await run(process.execPath, [npm, ...args], process.env)
    : await run("npm", args, process.env);
  if (code !== 0) process.exit(code);
  remember(scope);
}

/** Whether npm itself has installed everything, or a changed lockfile asks for nothing else. */
function isInstalled() {
  const file = path.join(root, "node_modules", ".package-lock.json");
  if (!existsSync(file)) return false;
  const there = JSON.parse(readFileSync(file, "utf8")).packages;
  return Object.entries(JSON.parse(lockfile).packages).every(
    ([folder, { version, optional, link }]) =>
      !folder.includes("node_modules/") || optional || link || there[folder]?.version === version,
  );
}

function remember(what) {
  // A new file: where a folder was copied by hard links, the old one belongs to the copies too.
  rmSync(stamp, { force: true });
  writeFileSync(stamp, `${lock} ${what}`);
}

/** Runs a program in the project's folder with our terminal; signals meant for us are passed on to it. */
function run(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio: "inherit" });
    const forward = (signal) => child.kill(signal);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, forward);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(name, forward);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
