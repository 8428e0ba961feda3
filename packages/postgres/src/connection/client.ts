// Connections of the `pg` library as this store uses them: numbers for bigint, statements that are prepared once.
import { hash } from "node:crypto";
import pg from "pg";
import type { Row } from "../columns.ts";
import type { Servers } from "./servers.ts";

export interface ConnectSettings {
  readonly servers: Servers;
  readonly connectTimeout: number;
  readonly statementTimeout: number;
  /** Undefined: found out. */
  readonly prepare: boolean | undefined;
}

export interface Result {
  readonly rows: readonly Row[];
  /** How many rows were changed or read. */
  readonly count: number;
}

/**
 * Runs one statement. With values it is prepared once for each connection, unless it is to be `planned` each time: a
 * statement that walks an index up to a limit, or filters by rare or common values, needs a plan for its values.
 */
export type Query = (
  text: string,
  values?: readonly unknown[],
  how?: "prepared" | "planned",
) => Promise<Result>;

/** Milliseconds after which the database aborts a transaction, so that a frozen node does not block others for long. */
export interface TransactionTimeouts {
  /** Between two of its statements. */
  readonly idle: number;
  /** For a lock that another one holds; it is tried again. */
  readonly lock: number;
}

/**
 * Begins a transaction at the isolation level that every operation is written for: after waiting for a row lock it reads
 * the newest committed row. A role or a database may have another default.
 */
export const begin = "begin isolation level read committed";

/** Begins a transaction. */
export function withTimeouts({ idle, lock }: TransactionTimeouts): string {
  return `${begin}; set local idle_in_transaction_session_timeout = ${idle}; set local lock_timeout = ${lock}`;
}

const bigint = 20;
const types = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === bigint ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The configuration of a connection to the server that was found last. */
export function configOf(settings: ConnectSettings): pg.ClientConfig {
  return {
    connectionString: settings.servers.current,
    connectionTimeoutMillis: settings.connectTimeout,
    query_timeout: settings.statementTimeout,
    keepAlive: true,
    application_name: "andante",
    types,
  };
}

/** The name of a prepared statement, the same on every connection. */
function nameOf(statement: string): string {
  return `andante_${hash("sha256", statement, "base64url")}`;
}

/** Runs a statement on a connection. One that is `prepared` is parsed and planned once for each connection. */
export async function run(
  client: pg.ClientBase,
  prepared: boolean,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Result> {
  const query = { text: statement, values: [...values], ...(prepared && { name: nameOf(statement) }) };
  const { rows, rowCount } = await client.query<Row>(query);
  return { rows, count: rowCount ?? 0 };
}

/**
 * Whether this connection is the database's own. A pooler that shares connections returns a process number of its own
 * making, so it differs from that of the server process which then runs the statement.
 */
export async function isDirect(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<Row>("select pg_backend_pid() as pid");
  return "processID" in client && client.processID === rows[0]?.pid;
}

/** Whether the connection keeps the process alive. The library supports it, but its types lack it. */
export function keepAlive(client: pg.ClientBase, alive: boolean): void {
  if (alive && "ref" in client && typeof client.ref === "function") client.ref();
  if (!alive && "unref" in client && typeof client.unref === "function") client.unref();
}
