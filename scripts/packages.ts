// The packages that are published, and how they are built.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { buildConsole } from "./build-console.mjs";

export const root = path.dirname(import.meta.dirname);
/** Modules, in the order in which they are built. */
export const modules = [
  "packages/core",
  "packages/server",
  "packages/postgres",
  "packages/client",
  "packages/demo-model",
];
export const packages = [...modules, "packages/console"];

/** A file of an installed tool. */
export const tool = (file: string): string => path.join(root, "node_modules", file);

/** Runs Node in a folder and returns its output; ends this process when it fails. */
export function run(what: string, folder: string, args: readonly string[]): string {
  const cwd = path.resolve(root, folder);
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (status === 0) {
    console.log(`${what}: ok`);
    return stdout;
  }
  console.error(`${what}: failed\n${stdout}\n${stderr}`);
  process.exit(1);
}

export function buildPackages(): void {
  for (const folder of modules) {
    rmSync(path.join(root, folder, "dist"), { recursive: true, force: true });
    run(`build ${folder}`, folder, [tool("tsdown/dist/run.mjs")]);
  }
  const problem = buildConsole(process.execPath);
  if (problem === undefined) return console.log("build packages/console: ok");
  console.error(`build packages/console: failed\n${problem}`);
  process.exit(1);
}
