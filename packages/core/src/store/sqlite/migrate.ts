// Applies numbered SQL migrations at start; a database newer than the code is refused.
import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { integer } from "./columns.ts";
import { rollBack } from "./roll-back.ts";

const folder = new URL("./migrations/", import.meta.url);

/** The statements of each migration, in order; the version of a database is the number of its migrations. */
export function readMigrations(): string[] {
  const names = readdirSync(folder).filter((name) => /^\d{4}-.*\.sql$/.test(name));
  return names.sort().map((name) => readFileSync(new URL(name, folder), "utf8"));
}

/**
 * Brings the database to the newest version that this code knows: a new file in one transaction, because each flushes the
 * disk and a start waits for it; an older file step by step, so that an interrupted upgrade continues where it ended.
 */
export function migrate(database: DatabaseSync, migrations: readonly string[] = readMigrations()): void {
  const row = database.prepare("pragma user_version").get();
  const version = row === undefined ? 0 : integer(row, "user_version");
  const newest = migrations.length;
  if (version > newest) {
    throw new Error(
      `its version is ${version}, but this release of Andante knows ${newest}: use a newer release`,
    );
  }
  if (version === 0) return apply(database, migrations.join(";\n"), newest);
  for (const [index, statements] of migrations.entries())
    if (index >= version) apply(database, statements, index + 1);
}

/** In a transaction of its own. */
function apply(database: DatabaseSync, statements: string, version: number): void {
  try {
    database.exec(`begin immediate; ${statements}; pragma user_version = ${version}; commit`);
  } catch (error) {
    rollBack(database);
    throw error;
  }
}
