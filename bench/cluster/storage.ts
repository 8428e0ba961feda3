// The room of executions of three steps in PostgreSQL: rows and bytes, with indexes, and how fast retention deletes them.
import { createAndante, createLogger } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { throughput } from "../measure.ts";
import { three } from "./workflows.ts";

export interface StorageFigures {
  readonly executions: number;
  /** By table: rows and bytes of one execution, with indexes and out-of-line values. */
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly bytes: number }>>;
  /** Executions that retention deletes in a second. */
  readonly deletedPerSecond: number;
}

export async function measureStorage(url: string, executions: number): Promise<StorageFigures> {
  const schema = "storage";
  const logger = createLogger({ level: "silent" });
  const store = postgresStore({ url, schema });
  const andante = createAndante({ workflows: { three }, store, logger });
  await andante.ready();
  await throughput(executions, 50, () => andante.execute("three", { n: 1 }));
  await andante.close();
  const client = new pg.Client(url);
  await client.connect();
  const tables: Record<string, { rows: number; bytes: number }> = {};
  try {
    const { rows: names } = await client.query<{ relname: string; bytes: string }>(
      `select relname, pg_total_relation_size(pg_class.oid) as bytes from pg_class
       join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1 and relkind in ('r', 'p')`,
      [schema],
    );
    for (const { relname, bytes } of names) {
      const { rows } = await client.query<{ count: string }>(
        `select count(*) from ${schema}.${pg.escapeIdentifier(relname)}`,
      );
      tables[relname] = { rows: Number(rows[0]?.count) / executions, bytes: Number(bytes) / executions };
    }
  } finally {
    await client.end();
  }
  return { executions, tables, deletedPerSecond: await measureDeletion(url, schema) };
}

async function measureDeletion(url: string, schema: string): Promise<number> {
  const store = postgresStore({ url, schema });
  await store.open();
  const upTo = { endAt: Number.MAX_SAFE_INTEGER, executionId: "~" };
  const begun = performance.now();
  let deleted = 0;
  for (let more = true; more; ) {
    const { executionIds } = await store.deleteFinished({ upTo, limit: 50, events: 500 });
    deleted += executionIds.length;
    more = executionIds.length > 0;
  }
  const seconds = (performance.now() - begun) / 1000;
  await store.close();
  return deleted / seconds;
}
