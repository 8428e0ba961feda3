// What an execution has used, with what its agents add to it.
import type { DatabaseSync } from "node:sqlite";
import { readUsage } from "../../sql/columns.ts";
import { type StoredUsage, sumUsage } from "../../usage.ts";

/** Returns a function that sums up what was used before and `added`; null when nothing is added. */
export function usageWith(database: DatabaseSync) {
  const select = database.prepare("select usage from executions where execution_id = ?");
  return (executionId: string, added: StoredUsage | null): StoredUsage | null =>
    added === null ? null : sumUsage(readUsage(select.get(executionId)?.usage), added);
}
