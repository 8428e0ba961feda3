// Adds what agents used to what the execution has used before.
import type { DatabaseSync } from "node:sqlite";
import { readUsage } from "../../sql/columns.ts";
import { type StoredUsage, sumUsage } from "../../usage.ts";

export function addUsage(database: DatabaseSync) {
  const select = database.prepare("select usage from executions where execution_id = ?");
  const update = database.prepare("update executions set usage = ? where execution_id = ?");
  return (executionId: string, usage: StoredUsage | null): void => {
    if (usage === null) return;
    const before = readUsage(select.get(executionId)?.usage);
    update.run(JSON.stringify(sumUsage(before, usage)), executionId);
  };
}
