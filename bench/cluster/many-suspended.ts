// The cost of many suspended executions: throughput beside them, and a resume among them.
import { createAndante, createLogger } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { median } from "../measure.ts";
import { gate } from "./workflows.ts";

/** Copies one suspended execution until there are as many; returns their ids' beginning. */
export async function fillWithSuspended(url: string, schema: string, count: number): Promise<string> {
  const andante = open(url, schema);
  await andante.ready();
  const { executionId } = await andante.execute("gate", { n: 1 });
  await andante.close();
  const client = new pg.Client(url);
  await client.connect();
  try {
    const open = `select suspension_id from ${schema}.suspensions where execution_id = $1`;
    const { rows: found } = await client.query<{ suspension_id: string }>(open, [executionId]);
    const suspensionId = found[0]?.suspension_id ?? "";
    for (const table of ["executions", "journal", "suspensions"]) {
      const { rows } = await client.query<{ column_name: string; data_type: string }>(
        `select column_name, data_type from information_schema.columns
         where table_schema = $1 and table_name = $2 and is_generated = 'NEVER' and is_identity = 'NO'`,
        [schema, table],
      );
      const names = rows.map(({ column_name }) => column_name);
      // The journal names the suspension too, inside of its texts.
      const values = rows.map(({ column_name: name, data_type: type }) => {
        const column = `${table}.${pg.escapeIdentifier(name)}`;
        if (name === "execution_id" || name === "suspension_id") return `'copy-' || each`;
        return type === "text" ? `replace(${column}, $3, 'copy-' || each)` : column;
      });
      const into = names.map((name) => pg.escapeIdentifier(name)).join(", ");
      await client.query(
        `insert into ${schema}.${table} (${into}) select ${values.join(", ")}
         from ${schema}.${table}, generate_series(1, $2::integer) as each where ${table}.execution_id = $1 and $3 <> ''`,
        [executionId, count, suspensionId],
      );
    }
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
  return "copy-";
}

/** Milliseconds, the median of some resumes one after the other, each to its end. */
export async function resumeAmong(
  url: string,
  schema: string,
  count: number,
  resumes: number,
): Promise<number> {
  const andante = open(url, schema);
  await andante.ready();
  const times: number[] = [];
  try {
    for (let index = 0; index < resumes; index++) {
      const executionId = `copy-${1 + Math.floor((index * count) / resumes)}`;
      const start = performance.now();
      const { status } = await andante.resume("gate", executionId, { ok: true });
      times.push(performance.now() - start);
      if (status !== "completed") throw new Error(`${executionId} is ${status}`);
    }
  } finally {
    await andante.close();
  }
  return median(times);
}

function open(url: string, schema: string) {
  const store = postgresStore({ url, schema });
  return createAndante({ workflows: { gate }, store, logger: createLogger({ level: "silent" }) });
}
