// Keeps the outlines of definitions, and lets executions be claimed again that were parked under another one.
import type { SeenDefinition, Store } from "@andante/core/store";
import { integer, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

const hour = 3_600_000;

/** Keeps the outline of a definition, once, and when processes registered it. */
export function define(readers: Readers, s: string) {
  const insert = `insert into ${s}.definitions (definition, outline) values ($1, $2) on conflict do nothing`;
  // At most one write an hour: processes define what they run again and again.
  const note = `insert into ${s}.workflow_definitions as known (workflow_id, definition, first_at, last_at)
    values ($1, $2, $3, $3) on conflict (workflow_id, definition) do update set last_at = excluded.last_at
    where known.last_at < excluded.last_at - ${hour}`;
  return ({ definition, outline: drawn, seen }: Parameters<Store["define"]>[0]): Promise<void> =>
    readers.write("define", async (query) => {
      await query(insert, [definition, drawn]);
      if (seen !== undefined) await query(note, [seen.workflowId, definition, seen.at]);
    });
}

export function definitions(readers: Readers, s: string) {
  const select = `select definition, first_at, last_at from ${s}.workflow_definitions where workflow_id = $1
    order by last_at desc, first_at desc limit 100`;
  return async (workflowId: string): Promise<SeenDefinition[]> =>
    (await readers.read(select, [workflowId])).map((row) => ({
      definition: text(row, "definition"),
      firstAt: integer(row, "first_at"),
      lastAt: integer(row, "last_at"),
    }));
}

/** Reads the outline of a definition. */
export function outline(readers: Readers, s: string) {
  const select = `select outline from ${s}.definitions where definition = $1`;
  return async (definition: string): Promise<string | undefined> => {
    const [row] = await readers.read(select, [definition]);
    return row && text(row, "outline");
  };
}

export function unpark(readers: Readers, s: string) {
  // Locked in the order of their ids, as everything that locks more than one.
  const update = (how: string) => `with parked as (
      select execution_id from ${s}.executions
      where parked is not null and workflow_id = $1 and parked_under is distinct from $2
        and (definition = $2 or not $3)
      order by execution_id for update ${how})
    update ${s}.executions set parked = null, parked_under = null
    from parked where executions.execution_id = parked.execution_id`;
  return (argument: { workflowId: string; definition: string; own?: boolean }): Promise<void> =>
    readers.write("unpark", async (query) => {
      const { workflowId, definition, own = false } = argument;
      // Every node asks for its own from time to time, so a row that is being written is passed over then.
      await query(update(own ? "skip locked" : ""), [workflowId, definition, own]);
    });
}
