// Keeps the outline of a definition, once.
import type { DatabaseSync } from "node:sqlite";

export function define(database: DatabaseSync) {
  const insert = database.prepare(
    "insert into definitions (definition, outline) values (?, ?) on conflict (definition) do nothing",
  );
  return ({ definition, outline }: { definition: string; outline: string }): void => {
    insert.run(definition, outline);
  };
}
