// How the store is: whether it can be read and written now, and how much room it takes.

import { withTimeout } from "@andante/core/internal";
import type { StoreHealth } from "@andante/core/store";
import pg from "pg";
import { integer } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { problemOf } from "../connection/trouble.ts";

/** Milliseconds for the reply of the database. */
const healthTime = 2_000;

const never = { count: 0, reason: "" };

/** `name` of the schema; `troubles` are those of the writers, undefined for one that is well. */
export async function health(
  readers: Readers,
  name: string,
  troubles: readonly unknown[],
): Promise<StoreHealth> {
  const trouble = troubles.find((each) => each !== undefined);
  const asked = readers.once(async (query) => {
    const { rows } = await query(
      `select pg_is_in_recovery() as recovers, coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint as bytes,
         (select count(*) from ${pg.escapeIdentifier(name)}.owners where expires_at > clock_timestamp()) as nodes
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1 and relkind = 'r'`,
      [name],
    );
    return rows[0];
  });
  try {
    const { value, timedOut } = await withTimeout(asked, healthTime, { keepAlive: false });
    if (timedOut || value === undefined)
      return { problem: "the database does not respond", bytes: null, restarts: never };
    const readOnly = value.recovers === true ? "the database is read-only" : null;
    const problem = trouble === undefined ? readOnly : problemOf(trouble);
    return { problem, bytes: integer(value, "bytes"), nodes: integer(value, "nodes"), restarts: never };
  } catch (error) {
    return { problem: problemOf(error), bytes: null, restarts: never };
  }
}
