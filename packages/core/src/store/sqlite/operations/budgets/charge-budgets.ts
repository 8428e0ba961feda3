// Replaces the shares of calls by their use: within a commit, and for calls that have no commit.
import type { DatabaseSync } from "node:sqlite";
import { type BudgetCharge, chargeAccount } from "../../../budget-store.ts";
import { integer } from "../../../sql/columns.ts";
import { accountRows } from "./account-rows.ts";

export function chargeBudgets(database: DatabaseSync) {
  const rows = accountRows(database);
  const take = database.prepare(
    "delete from budget_holds where hold_id = ? and budget = ? and subject = ? and attempt = ? returning amount",
  );
  return (charges: readonly BudgetCharge[]): void => {
    for (const { hold, attempt, budget, subject, amount, ...window } of charges) {
      const share = take.get(hold, budget, subject, attempt);
      if (share === undefined) continue;
      const key = { budget, subject };
      rows.keep(key, chargeAccount(rows.read(key), window, amount ?? integer(share, "amount")));
    }
  };
}
