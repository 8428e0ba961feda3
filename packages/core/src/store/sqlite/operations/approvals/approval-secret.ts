// The secret that approval requests are signed with; the first candidate is kept.
import type { DatabaseSync } from "node:sqlite";
import { text } from "../../columns.ts";

const name = "tool-approvals";

export function approvalSecret(database: DatabaseSync) {
  const insert = database.prepare("insert into secrets (name, value) values (?, ?) on conflict do nothing");
  const read = database.prepare("select value from secrets where name = ?");
  return (candidate: string): string => {
    insert.run(name, candidate);
    const row = read.get(name);
    return row === undefined ? candidate : text(row, "value");
  };
}
