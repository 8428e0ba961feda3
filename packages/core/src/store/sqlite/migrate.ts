// Applies numbered SQL migrations at start; a database newer than the code is refused.
import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { integer } from "./columns.ts";

const folder = new URL("./migrations/", import.meta.url);

/** The numbered migrations in order; a database's version says how many of them it has. */
export function migrations(): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort();
}

/**
 * Brings the database to the newest version this code knows: a new file in one transaction, because each flushes the disk
 * and a start waits for them; an older one step by step, so that what is done stays done.
 */
export function migrate(database: DatabaseSync): void {
  const files = migrations();
  const row = database.prepare("pragma user_version").get();
  const version = row === undefined ? 0 : integer(row, "user_version");
  if (version > files.length) {
    throw new Error(
      `its version is ${version}, but this release of Andante knows ${files.length}: use a newer release`,
    );
  }
  if (version === 0) return apply(database, "schema.sql", files.length);
  for (const [index, name] of files.entries()) {
    if (index >= version) apply(database, name, index + 1);
  }
}

/** In a transaction of its own. */
export function apply(database: DatabaseSync, name: string, version: number): void {
  const statements = readFileSync(new URL(name, folder), "utf8");
  database.exec(`begin immediate; ${statements}; pragma user_version = ${version}; commit`);
}
