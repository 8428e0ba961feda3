// Removes accounts whose window ended long ago, and shares of calls that were never ended, a bounded number at a time.
import type { DatabaseSync } from "node:sqlite";

export function trimBudgets(database: DatabaseSync) {
  const drop = database.prepare(
    `delete from budgets where (budget, subject) in
       (select budget, subject from budgets where ends_at < ? order by ends_at limit ?)`,
  );
  const dropHolds = database.prepare(
    `delete from budget_holds where (hold_id, budget, subject) in
       (select hold_id, budget, subject from budget_holds where expires_at < ? order by expires_at limit ?)`,
  );
  return ({ before, limit }: { readonly before: number; readonly limit: number }): number => {
    dropHolds.run(before, limit);
    return Number(drop.run(before, limit).changes);
  };
}
