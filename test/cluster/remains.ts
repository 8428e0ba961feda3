// Reads the database once all is over: every execution with its journal, by plain SQL.

import { type EventFields, readRow } from "@andante/core/store";
import pg from "pg";
import { z } from "zod";
import { schema } from "./cluster.ts";

const executionSchema = z.object({
  execution_id: z.string(),
  status: z.string(),
  sequence: z.coerce.number(),
  owner: z.string().nullable(),
  token: z.string().nullable(),
  parked: z.string().nullable(),
  suspensions: z.coerce.number(),
  timers: z.coerce.number(),
});

const rowSchema = z.object({
  execution_id: z.string(),
  sequence: z.coerce.number(),
  events: z.string(),
  write_key: z.string().nullable(),
});

/** One write to a journal. */
export interface Write {
  readonly key: string | null;
  readonly events: readonly { readonly sequence: number; readonly fields: EventFields }[];
}

export interface Remains {
  readonly execution: z.infer<typeof executionSchema>;
  readonly writes: readonly Write[];
}

export async function readRemains(url: string): Promise<Map<string, Remains>> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    const executions = await client.query(`select *,
        (select count(*) from ${schema}.suspensions s where s.execution_id = e.execution_id) as suspensions,
        (select count(*) from ${schema}.timers t where t.execution_id = e.execution_id) as timers
      from ${schema}.executions e`);
    const journal = await client.query(`select * from ${schema}.journal order by execution_id, sequence`);
    const rows = Map.groupBy(
      journal.rows.map((row) => rowSchema.parse(row)),
      (row) => row.execution_id,
    );
    return new Map(
      executions.rows.map((row) => {
        const execution = executionSchema.parse(row);
        const writes = (rows.get(execution.execution_id) ?? []).map(
          ({ sequence, events, write_key: key }): Write => ({ key, events: readRow(sequence, events) }),
        );
        return [execution.execution_id, { execution, writes }];
      }),
    );
  } finally {
    await client.end();
  }
}
