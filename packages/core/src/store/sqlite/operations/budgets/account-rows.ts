// The rows of the accounts of budgets.
import type { DatabaseSync } from "node:sqlite";
import type { BudgetAccountKey, KeptAccount } from "../../../budget-store.ts";
import { toKeptAccount } from "../../../sql/budget-rows.ts";

export function accountRows(database: DatabaseSync) {
  const select = database.prepare("select * from budgets where budget = ? and subject = ?");
  const keep = database.prepare(
    `insert into budgets (budget, subject, starts_at, ends_at, used, largest, raises) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (budget, subject) do update set starts_at = excluded.starts_at, ends_at = excluded.ends_at,
       used = excluded.used, largest = excluded.largest, raises = excluded.raises`,
  );
  return {
    read({ budget, subject }: BudgetAccountKey): KeptAccount | undefined {
      const row = select.get(budget, subject);
      return row && toKeptAccount(row);
    },
    keep({ budget, subject }: BudgetAccountKey, account: KeptAccount): void {
      const { startsAt, endsAt, used, largest, raises } = account;
      keep.run(budget, subject, startsAt, endsAt, used, largest, JSON.stringify(raises));
    },
  };
}
