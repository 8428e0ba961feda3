// Keeps the outlines of definitions, and lets executions be claimed again that were parked under another one.
import { text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

/** Keeps the outline of a definition, once. */
export function define(readers: Readers, s: string) {
  const insert = `insert into ${s}.definitions (definition, outline) values ($1, $2) on conflict do nothing`;
  return ({ definition, outline: drawn }: { definition: string; outline: string }): Promise<void> =>
    readers.write("define", async (query) => {
      await query(insert, [definition, drawn]);
    });
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
