// A later release of the store's package: a copy of it with further migrations.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const root = path.resolve(import.meta.dirname, "../..");

export interface LaterRelease {
  /** The import specifier for a node. */
  readonly postgres: string;
  remove(): void;
}

/** `migrations`: the text of each by the name of its file. */
export function makeRelease(migrations: Readonly<Record<string, string>>): LaterRelease {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-release-"));
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const copy = path.join(folder, "postgres");
  mkdirSync(copy);
  for (const part of ["package.json", "src"])
    cpSync(path.join(root, "packages/postgres", part), path.join(copy, part), { recursive: true });
  for (const [name, text] of Object.entries(migrations))
    writeFileSync(path.join(copy, "src/migrations", name), text);
  return {
    postgres: pathToFileURL(path.join(copy, "src/index.ts")).href,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
