// npm itself accepts the lockfile on every platform, and chooses the binaries of that platform.
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const npm = process.env.npm_execpath ?? "";
/** A checkout in which nothing is installed. */
const checkout = mkdtempSync(path.join(tmpdir(), "andante-lockfile-"));

beforeAll(() => {
  const exclude = ["**/node_modules/**"];
  const files = globSync("{.npmrc,package-lock.json,{.,packages/*,examples/*,bench,test}/package.json}", {
    cwd: root,
    exclude,
  });
  for (const file of files) cpSync(path.join(root, file), path.join(checkout, file));
});

afterAll(() => rmSync(checkout, { recursive: true, force: true }));

function binariesOf(os: string, cpu: string, program: readonly string[]): string[] {
  const platform = [`--os=${os}`, `--cpu=${cpu}`, "--libc=glibc"];
  const args = [...program, "ci", "--dry-run", "--ignore-scripts", "--loglevel=error", ...platform];
  const output = execFileSync(process.execPath, args, { cwd: checkout, encoding: "utf8" });
  return [...output.matchAll(/^add @biomejs\/(\S+)/gm)].map(([, name = ""]) => name).sort();
}

test.each([
  ["linux", "x64"],
  ["linux", "arm64"],
  ["darwin", "x64"],
  ["darwin", "arm64"],
  ["win32", "x64"],
  ["win32", "arm64"],
])("npm ci on %s %s", { timeout: 300_000 }, (os, cpu) => {
  expect(binariesOf(os, cpu, [npm])).toEqual(["biome", `cli-${os}-${cpu}`]);
});

test("npm ci of npm 10, which Node 20 and 22 bring", { timeout: 300_000 }, () => {
  // It lists the packages of every platform, and leaves out those of others when it installs.
  const older = [npm, "exec", "--yes", "--", "npm@10"];
  expect(binariesOf("linux", "x64", older)).toContain("cli-linux-x64");
});
