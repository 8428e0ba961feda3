// A SQLite file that is gone when the test is over; a schema of its own where the whole run is on PostgreSQL.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Store, sqliteStore } from "@andante/core";
import { cleanup } from "./cleanup.ts";
import { storesOnPostgres } from "./store-for-test.ts";

/** `open` makes a store on it; several in turn see the same data. Call it before its users are opened. */
export function temporaryFile(): { open(): Store } {
  const onPostgres = storesOnPostgres();
  if (onPostgres !== undefined) return { open: onPostgres };
  const folder = mkdtempSync(path.join(tmpdir(), "andante-test-"));
  cleanup(() => rmSync(folder, { recursive: true, force: true }));
  return { open: () => sqliteStore({ path: path.join(folder, "test.db") }) };
}
