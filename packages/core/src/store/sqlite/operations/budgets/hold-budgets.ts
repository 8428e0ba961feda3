// Holds the shares of a call on all of its accounts, or on none.
import type { DatabaseSync } from "node:sqlite";
import {
  type BudgetHold,
  type HeldShare,
  type HoldRenewal,
  type HoldResult,
  holdShare,
} from "../../../budget-store.ts";
import { toOtherShares } from "../../../sql/budget-rows.ts";
import { accountRows } from "./account-rows.ts";

export function holdBudgets(database: DatabaseSync) {
  const rows = accountRows(database);
  const others = database.prepare(
    `select count(*) as count, total(amount) as amount, coalesce(max(unbounded), 0) as unbounded
     from budget_holds where budget = ? and subject = ? and expires_at > ? and hold_id <> ?`,
  );
  const keep = database.prepare(
    `insert into budget_holds (hold_id, attempt, budget, subject, amount, unbounded, expires_at)
     values (?, ?, ?, ?, ?, ?, ?)
     on conflict (hold_id, budget, subject) do update set attempt = excluded.attempt, amount = excluded.amount, unbounded = excluded.unbounded,
       expires_at = excluded.expires_at`,
  );
  return ({ hold, attempt, at, expiresAt, shares }: BudgetHold): HoldResult => {
    const held: HeldShare[] = [];
    for (const [index, share] of shares.entries()) {
      const { budget, subject } = share;
      const beside = toOtherShares(others.get(budget, subject, at, hold) ?? {});
      const result = holdShare(rows.read(share), beside, share);
      if ("account" in result) {
        held.push(result);
        continue;
      }
      if (result.raised !== undefined) rows.keep(share, result.raised);
      if (result.kind === "busy") return { kind: "busy" };
      return { kind: "reached", share: index, used: result.used, limit: result.limit };
    }
    for (const [index, { account, amount, unbounded }] of held.entries()) {
      const share = shares[index];
      if (share === undefined) continue;
      rows.keep(share, account);
      keep.run(hold, attempt, share.budget, share.subject, amount, Number(unbounded), expiresAt);
    }
    return { kind: "held", uses: held.map(({ used, limit }) => ({ used, limit })) };
  };
}

/** Shares that were taken away meanwhile stay so. */
export function renewHolds(database: DatabaseSync) {
  const renew = database.prepare("update budget_holds set expires_at = ? where attempt = ?");
  return ({ attempts, expiresAt }: HoldRenewal): void => {
    for (const attempt of attempts) renew.run(expiresAt, attempt);
  };
}
