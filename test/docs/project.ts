// A folder like a user's with the packages installed, removed when the tests are over.
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { root } from "./pages.ts";

export function newProject(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "andante-docs-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}
