// Applies numbered SQL migrations at start; a database newer than the code is refused.
import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { integer } from "./columns.ts";

const folder = new URL("./migrations/", import.meta.url);

/**
 * Brings the database to the newest version this code knows: a new file in one transaction, because each flushes the disk
 * and a start waits for them; an older one step by step, so that what is done stays done.
 */
export function migrate(database: DatabaseSync): void {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort();
  const row = database.prepare("pragma user_version").get();
  const version = row === undefined ? 0 : integer(row, "user_version");
  if (version > files.length) {
    throw new Error(
      `its version is ${version}, but this release of Andante knows ${files.length}: use a newer release`,
    );
  }
  const steps = files.slice(version).map((name, index) => {
    const statements = readFileSync(new URL(name, folder), "utf8");
    return `${statements}; pragma user_version = ${version + index + 1};`;
  });
  const transactions = version === 0 ? [steps.join("\n")] : steps;
  for (const statements of transactions) database.exec(`begin immediate; ${statements} commit`);
}
