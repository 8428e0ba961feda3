// The stores of a test's servers: in memory or in a file, or on PostgreSQL where the whole run is meant to be on it.
import { randomBytes } from "node:crypto";
import { memoryStore, type Store } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { sharedDatabase } from "./shared-database.ts";

/** An empty store, for one server. */
export function storeForTest(): Store {
  return storesOnPostgres()?.() ?? memoryStore();
}

/** Makes stores on one new schema, which goes with the database; undefined where the run is not on PostgreSQL. */
export function storesOnPostgres(): (() => Store) | undefined {
  const url = sharedDatabase();
  if (url === undefined) return undefined;
  const schema = `test-${randomBytes(6).toString("hex")}`;
  // Of all that happens on a busy machine only a connection that is never made is a fault here.
  return () => postgresStore({ url, schema, writers: 1, readers: 2, connectTimeout: 20_000 });
}
