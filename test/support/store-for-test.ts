// The stores of a test's servers: in memory or in a file, or on PostgreSQL or Restate where the whole run is meant to be on it.
import { randomBytes } from "node:crypto";
import { memoryStore, type Store } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { sharedDatabase, sharedRestate } from "./shared-database.ts";

// The SDK of Restate takes its time to load: other runs do without it.
const restate = sharedRestate() && (await import("@andante/restate"));

/** An empty store, for one server. */
export function storeForTest(): Store {
  return storesOnPostgres()?.() ?? storeOnRestate() ?? memoryStore();
}

/** A store with a namespace of its own; undefined where the run is not on Restate. */
function storeOnRestate(): Store | undefined {
  const server = sharedRestate();
  if (server === undefined || restate === undefined) return undefined;
  const { endpointUrl: url, ...addresses } = server;
  // Restate calls the process that has started it: the ports of these stores stay unused.
  const endpoint = { port: 0, url };
  const namespace = `test-${randomBytes(6).toString("hex")}`;
  return restate.restateStore({ ...addresses, endpoint, namespace, shards: 1 });
}

/** Makes stores on one new schema, which goes with the database; undefined where the run is not on PostgreSQL. */
export function storesOnPostgres(): (() => Store) | undefined {
  const url = sharedDatabase();
  if (url === undefined) return undefined;
  const schema = `test-${randomBytes(6).toString("hex")}`;
  // Of all that happens on a busy machine only a connection that is never made is a fault here.
  return () => postgresStore({ url, schema, writers: 1, readers: 2, connectTimeout: 20_000 });
}
