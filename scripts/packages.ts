// The packages that are published, and how they are built.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildConsole, hashOf } from "./build-console.mjs";
import { stage } from "./stage.ts";

export const root = path.dirname(import.meta.dirname);
/** Modules, in the order in which they are built. */
export const modules = [
  "packages/core",
  "packages/server",
  "packages/postgres",
  "packages/restate",
  "packages/client",
  "packages/demo-model",
];
/** In the order in which they are published: the server depends on the console. */
export const packages = ["packages/console", ...modules];
/** The program behind `npm create andante`, which is not imported. */
export const scaffolder = "packages/create-andante";
export const published = [...packages, scaffolder];

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

/** Builds them, unless neither their sources nor the built files have changed since. */
export function buildPackages(): void {
  const stamp = path.join(root, "node_modules", ".cache", "andante-packages");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === buildHash())
    console.log("build packages: unchanged");
  else {
    for (const folder of [...modules, scaffolder]) {
      rmSync(path.join(root, folder, "dist"), { recursive: true, force: true });
      run(`build ${folder}`, folder, [tool("tsdown/dist/run.mjs")]);
    }
    mkdirSync(path.dirname(stamp), { recursive: true });
    writeFileSync(stamp, buildHash());
  }
  const problem = buildConsole(process.execPath);
  if (problem === undefined) return console.log("build packages/console: ok");
  console.error(`build packages/console: failed\n${problem}`);
  process.exit(1);
}

function buildHash(): string {
  const inPackages = [...modules, scaffolder].flatMap((folder) =>
    ["dist", "package.json", "src", "template", "tsdown.config.ts"].map((each) => path.join(folder, each)),
  );
  const places = ["package-lock.json", "tsconfig.json", ...inPackages].map((each) => path.join(root, each));
  return hashOf(places.filter((place) => existsSync(place)));
}

/** npm's own file, to be run by this Node: an npm on an older Node silently chooses older packages. */
export function npmFile(): string {
  const npm = process.env.npm_execpath;
  assert(npm !== undefined, "start this with npm run");
  return npm;
}

/** Packs a built package, checks its contents, and returns the tarball's path. */
export function pack(folder: string, destination: string): string {
  const staged = mkdtempSync(path.join(tmpdir(), "andante-staged-"));
  try {
    stage(folder, staged);
    const packed: unknown = JSON.parse(
      run(`pack ${folder}`, staged, [npmFile(), "pack", "--json", "--pack-destination", destination]),
    );
    const [{ filename, files }] = packed as [{ filename: string; files: { path: string }[] }];
    const outside = files.map((file) => file.path).filter((file) => !/^(dist|docs)\//.test(file));
    assert.deepEqual(outside.sort(), ["LICENSE", "README.md", "package.json"], folder);
    return path.join(destination, filename);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
