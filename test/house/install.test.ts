// The installation by scripts/run.mjs, with an npm that only records its arguments.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const quickstart = ["--workspace", "examples/quickstart", "--workspace", "packages/console"];
const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];

/** A checkout with these packages in its lockfile, in which nothing is installed. */
function checkout(versions: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  };
  const lockfileOf = (packages: Readonly<Record<string, string>>) => {
    const entries = Object.entries(packages).map(([name, version]) => [`node_modules/${name}`, { version }]);
    const other = { version: "1.0.0", optional: true, os: ["aix"] };
    return JSON.stringify({ packages: { ...Object.fromEntries(entries), "node_modules/for-aix": other } });
  };
  mkdirSync(path.join(folder, "scripts"));
  cpSync(path.join(root, "scripts/run.mjs"), path.join(folder, "scripts/run.mjs"));
  write("scripts/build-console.mjs", "export const buildConsole = () => undefined;");
  write("scripts/check.ts", "");
  write("examples/quickstart/src/main.ts", "");
  write("package-lock.json", lockfileOf(versions));
  write(
    "npm.mjs",
    'import fs from "node:fs"; fs.writeFileSync("called", JSON.stringify(process.argv.slice(2)));',
  );
  mkdirSync(path.join(folder, "node_modules/node/bin"), { recursive: true });
  symlinkSync(process.execPath, path.join(folder, "node_modules/node/bin/node"));
  return {
    write,
    /** npm's own list of the installed packages. */
    installed: (packages: Readonly<Record<string, string>>) =>
      write("node_modules/.package-lock.json", lockfileOf(packages)),
    /** The arguments that a task gives to npm; undefined when it does not call it. */
    run(task: string): string[] | undefined {
      const called = path.join(folder, "called");
      writeFileSync(called, "null");
      const env = { ...process.env, npm_execpath: path.join(folder, "npm.mjs") };
      execFileSync(process.execPath, [path.join(folder, "scripts/run.mjs"), task], {
        cwd: folder,
        env,
        stdio: "pipe",
      });
      return JSON.parse(readFileSync(called, "utf8")) ?? undefined;
    },
  };
}

test("a fresh clone is installed once, by npm ci", () => {
  const { run } = checkout({ hono: "4.0.0" });
  expect(run("check")).toEqual(["ci", ...quiet]);
  expect(run("check")).toBeUndefined();
  expect(run("start")).toBeUndefined();
});

test("npm start installs the packages of the quickstart, and the rest is added to them", () => {
  const { run } = checkout({ hono: "4.0.0" });
  expect(run("start")).toEqual(["ci", ...quiet, ...quickstart]);
  expect(run("start")).toBeUndefined();
  // `npm ci` would remove the files of a server that runs.
  expect(run("check")).toEqual(["install", "--no-save", ...quiet]);
  expect(run("start")).toBeUndefined();
});

test("an installation that npm has made itself is used", () => {
  const { run, installed } = checkout({ hono: "4.0.0", pino: "10.0.0" });
  installed({ hono: "4.0.0", pino: "10.0.0" });
  expect(run("check")).toBeUndefined();
});

test.each([
  ["is of another version", { hono: "3.0.0", pino: "10.0.0" }],
  ["is missing", { hono: "4.0.0" }],
])("an installation in which a package %s is made anew", (_, packages) => {
  const { run, installed } = checkout({ hono: "4.0.0", pino: "10.0.0" });
  installed(packages);
  expect(run("check")).toEqual(["ci", ...quiet]);
});

test("a lockfile with other packages is installed, one with the same is not", () => {
  const { run, installed, write } = checkout({ hono: "4.0.0" });
  expect(run("check")).toEqual(["ci", ...quiet]);
  installed({ hono: "4.0.0" });
  write(
    "package-lock.json",
    JSON.stringify({ packages: { "": { version: "2.0.0" }, "node_modules/hono": { version: "4.0.0" } } }),
  );
  expect(run("check")).toBeUndefined();
  write("package-lock.json", JSON.stringify({ packages: { "node_modules/hono": { version: "4.0.1" } } }));
  expect(run("check")).toEqual(["ci", ...quiet]);
});
