// Removes the rows of the oldest days, a bounded number at a time.
import type { DatabaseSync } from "node:sqlite";

export function trimUsage(database: DatabaseSync) {
  const drop = database.prepare(
    `delete from usage where (day, user_id, agent_id, workflow_id, model) in
       (select day, user_id, agent_id, workflow_id, model from usage where day < ? order by day limit ?)`,
  );
  const dropWriters = database.prepare("delete from usage_writers where day < ?");
  return ({ before, limit }: { readonly before: number; readonly limit: number }): number => {
    dropWriters.run(before);
    return Number(drop.run(before, limit).changes);
  };
}
