// Budgets over windows of time: the log object has all accounts.
import { type BudgetAccount, type BudgetAccountKey, type BudgetStore, sumOf } from "@andante/core/store";
import type { Shards } from "../client/shards.ts";
import { budgetColumns, type KeptBudget, sharesIn } from "../engine/budgets.ts";
import { compared, isText, number, textIn, wholeIn } from "./sql.ts";

const endsAt = number(budgetColumns.endsAt);
const selected = `${budgetColumns.budget} as budget, ${budgetColumns.subject} as subject,
  ${number(budgetColumns.used)} as used, ${budgetColumns.whole} as whole`;

function accountOf(key: BudgetAccountKey, kept: KeptBudget, at: number): BudgetAccount {
  const { startsAt, endsAt, used, raises } = kept.account;
  return { ...key, startsAt, endsAt, used, held: sharesIn(kept, at).amount, raised: sumOf(raises) };
}

export function budgetOperations(shards: Shards): BudgetStore {
  return {
    hold: (hold) => shards.write(shards.log, "holdBudgets", hold),
    charge: (charges) => shards.write(shards.log, "chargeBudgets", charges),
    renew: (renewal) => shards.write(shards.log, "renewHolds", renewal),
    accounts: async ({ budget, subject, at, limit }) => {
      if (subject !== undefined) {
        const kept = await shards.read(shards.log, "budget", { budget, subject });
        return kept && kept.account.endsAt > at ? [accountOf({ budget, subject }, kept, at)] : [];
      }
      const asked = `${isText(budgetColumns.budget, budget)}${compared(endsAt, ">", at)}`;
      const rest = `${asked} order by used desc, subject limit ${limit}`;
      const rows = await shards.searchLog(selected, "bu/", rest);
      return rows.map((row) =>
        accountOf({ budget, subject: textIn(row, "subject") }, wholeIn<KeptBudget>(row), at),
      );
    },
    trim: async ({ before, limit }) => {
      const condition = compared(endsAt, "<", before);
      const keys = await shards.oldest(shards.log, "bu/", condition, endsAt, limit);
      return keys.length === 0 ? 0 : await shards.write(shards.log, "dropBudgets", { keys, before });
    },
  };
}
