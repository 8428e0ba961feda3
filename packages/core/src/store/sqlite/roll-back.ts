import type { DatabaseSync } from "node:sqlite";

/** Ends the transaction without its changes. `isTransaction` came with Node 22.16: earlier versions would keep it open. */
export function rollBack(database: DatabaseSync): void {
  try {
    database.exec("rollback");
  } catch {
    // SQLite has rolled back already, as it does when the disk is full.
  }
}
