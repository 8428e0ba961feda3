// Reads the outline of a definition.
import type { DatabaseSync } from "node:sqlite";
import { text } from "../columns.ts";

export function outline(database: DatabaseSync) {
  const select = database.prepare("select outline from definitions where definition = ?");
  return (definition: string): string | undefined => {
    const row = select.get(definition);
    return row && text(row, "outline");
  };
}
