// The built client in Node, a thread of it, Deno and Bun: each calls a live server.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { build } from "tsdown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { expected } from "./tour.ts";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");
const server = await serveForTest();
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "andante-runtimes-"));
  const installed = path.join(folder, "node_modules/@andante/client");
  mkdirSync(installed, { recursive: true });
  cpSync(path.join(root, "packages/client/package.json"), path.join(installed, "package.json"));
  const parser = "node_modules/eventsource-parser";
  cpSync(path.join(root, parser), path.join(folder, parser), { recursive: true });
  await build({
    cwd: path.join(root, "packages/client"),
    config: false,
    entry: { index: "src/index.ts" },
    format: "esm",
    platform: "neutral",
    target: "es2022",
    dts: false,
    fixedExtension: false,
    outDir: path.join(installed, "dist"),
    logLevel: "error",
  });
  cpSync(path.join(import.meta.dirname, "tour.ts"), path.join(folder, "tour.ts"));
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const seen = `await tour(${JSON.stringify(server.url)})`;
  const imported = 'import { tour } from "./tour.ts";\n';
  writeFileSync(path.join(folder, "main.ts"), `${imported}console.log(JSON.stringify(${seen}));\n`);
  writeFileSync(
    path.join(folder, "worker.ts"),
    `${imported}import { parentPort } from "node:worker_threads";\nparentPort?.postMessage(${seen});\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of another runtime's program, run in a folder that has only the built client. */
async function seenBy(program: string, ...args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(program, [...args, "main.ts"], { cwd: folder, timeout: 60_000 });
  return JSON.parse(stdout);
}

const linux = process.platform === "linux";
const arm = process.arch === "arm64";
/** The npm packages that carry the programs themselves: those that carry installers ask for scripts to be run. */
const runtimes = {
  Deno: {
    name: linux ? `@deno/linux-${process.arch}-glibc` : `@deno/${process.platform}-${process.arch}`,
    program: "deno",
    // It has no more rights than to call the server.
    args: ["run", "--allow-net=127.0.0.1", "--node-modules-dir=manual"],
  },
  Bun: {
    name: `@oven/bun-${process.platform}-${arm ? "aarch64" : "x64"}`,
    program: "bin/bun",
    args: ["run"],
  },
} as const;

test("Node", async () => {
  expect(await seenBy(process.execPath)).toEqual(expected);
});

test("a thread of Node", async () => {
  // Not with the condition of this process, which is for sources.
  const worker = new Worker(path.join(folder, "worker.ts"), { execArgv: [] });
  const seen = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  expect(seen).toEqual(expected);
});

test.each(["Deno", "Bun"] as const)("%s", { timeout: 300_000 }, async (runtime) => {
  const { name, program, args } = runtimes[runtime];
  const place = path.join(folder, runtime);
  mkdirSync(place);
  writeFileSync(path.join(place, "package.json"), '{ "private": true }');
  const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", name];
  await run("npm", install, { cwd: place, timeout: 240_000 }).catch((error: Error) => {
    throw new Error(`${runtime} could not be installed, so the client was not tried in it: ${error.message}`);
  });
  expect(await seenBy(path.join(place, "node_modules", name, program), ...args)).toEqual(expected);
});
