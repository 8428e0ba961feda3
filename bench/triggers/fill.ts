// Writes many schedules of users into the rows of a store, each a copy of one that was set.
import { DatabaseSync } from "node:sqlite";
import { type Andante, createAndante, createLogger, type Store } from "@andante/core";
import pg from "pg";
import { tick } from "./workflows.ts";

export interface Filling {
  readonly count: number;
  /** When the one with this number is due, in milliseconds since 1970. */
  dueAt(index: number): number;
}

/** The row of a schedule that fires every hour, as the store has it. */
async function template(store: Store): Promise<{ readonly body: string }> {
  const andante: Andante = createAndante({
    ...{ workflows: { tick: tick() }, store, logger: createLogger({ level: "silent" }) },
  });
  await andante.schedules.set("template", { workflowId: "tick", every: "1h", input: {}, userId: "ada" });
  const row = await store.schedules.read("template");
  await andante.schedules.remove("template");
  await andante.close();
  return { body: row?.body ?? "{}" };
}

/** The body of a schedule of which the last occurrence is decided. */
function bodyAt(body: string, dueAt: number): string {
  return JSON.stringify({
    ...JSON.parse(body),
    timing: { every: 3_600_000, from: dueAt % 3_600_000, to: null },
    cursorAt: dueAt - 1,
  });
}

const idOf = (index: number) => `user-${String(index).padStart(6, "0")}`;

export async function fillSqlite(file: string, store: Store, { count, dueAt }: Filling): Promise<void> {
  const { body } = await template(store);
  const database = new DatabaseSync(file);
  const insert = database.prepare(
    `insert into schedules (schedule_id, kind, workflow_id, agent_id, user_id, due_at, version, body, occurrences)
     values (?, 'schedule', 'tick', null, ?, ?, 'first', ?, '[]')`,
  );
  database.exec("begin");
  for (let index = 0; index < count; index++)
    insert.run(idOf(index), `user ${index % 1000}`, dueAt(index), bodyAt(body, dueAt(index)));
  database.exec("commit");
  database.close();
}

export async function fillPostgres(
  { url, schema, store }: { readonly url: string; readonly schema: string; readonly store: Store },
  { count, dueAt }: Filling,
): Promise<void> {
  const { body } = await template(store);
  const client = new pg.Client(url);
  await client.connect();
  const page = 5000;
  for (let first = 0; first < count; first += page) {
    const indexes = Array.from({ length: Math.min(page, count - first) }, (_, index) => first + index);
    await client.query(
      `insert into ${schema}.schedules (schedule_id, kind, workflow_id, user_id, due_at, version, body, occurrences)
       select id, 'schedule', 'tick', owner, due, 'first', body, '[]'
       from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) as given (id, owner, due, body)`,
      [
        indexes.map(idOf),
        indexes.map((index) => `user ${index % 1000}`),
        indexes.map(dueAt),
        indexes.map((index) => bodyAt(body, dueAt(index))),
      ],
    );
  }
  await client.query(`analyze ${schema}.schedules`);
  await client.end();
}
