// The public surface of @andante/postgres: Andante's store on PostgreSQL.
export type { PostgresStoreOptions } from "./options.ts";
export { postgresStore } from "./postgres-store.ts";
