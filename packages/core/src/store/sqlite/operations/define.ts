// Keeps the outline of a definition, once, and when processes registered it.
import type { DatabaseSync } from "node:sqlite";
import type { SeenDefinition, Store } from "../../store.ts";
import { integer, text } from "../columns.ts";

const hour = 3_600_000;

export function define(database: DatabaseSync) {
  const insert = database.prepare(
    "insert into definitions (definition, outline) values (?, ?) on conflict (definition) do nothing",
  );
  // At most one write an hour: processes define what they run again and again.
  const note = database.prepare(
    `insert into workflow_definitions (workflow_id, definition, first_at, last_at) values (?, ?, ?, ?)
     on conflict (workflow_id, definition) do update set last_at = excluded.last_at
     where last_at < excluded.last_at - ${hour}`,
  );
  return ({ definition, outline, seen }: Parameters<Store["define"]>[0]): void => {
    insert.run(definition, outline);
    if (seen !== undefined) note.run(seen.workflowId, definition, seen.at, seen.at);
  };
}

export function definitions(database: DatabaseSync) {
  const select = database.prepare(
    `select definition, first_at, last_at from workflow_definitions where workflow_id = ?
     order by last_at desc, first_at desc limit 100`,
  );
  return (workflowId: string): SeenDefinition[] =>
    select.all(workflowId).map((row) => ({
      definition: text(row, "definition"),
      firstAt: integer(row, "first_at"),
      lastAt: integer(row, "last_at"),
    }));
}
