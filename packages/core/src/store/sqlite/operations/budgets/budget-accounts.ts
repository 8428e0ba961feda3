// Lists the accounts of a budget with the shares that calls in flight hold, the highest use first.
import type { DatabaseSync } from "node:sqlite";
import type { BudgetAccount, BudgetQuery } from "../../../budget-store.ts";
import { toBudgetAccount } from "../../../sql/budget-rows.ts";
import { Where } from "../observations/where.ts";

export function budgetAccounts(database: DatabaseSync) {
  return ({ budget, subject, at, limit }: BudgetQuery): BudgetAccount[] => {
    const where = new Where().add("budget = ?", budget).add("subject = ?", subject).add("ends_at > ?", at);
    return database
      .prepare(
        `select *, (select total(amount) from budget_holds
           where budget_holds.budget = budgets.budget and budget_holds.subject = budgets.subject and expires_at > ?) as held
         from budgets ${where} order by used desc, subject limit ?`,
      )
      .all(at, ...where.values, limit)
      .map(toBudgetAccount);
  };
}
