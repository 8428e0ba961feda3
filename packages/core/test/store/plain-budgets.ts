// Budgets of the store of maps.
import {
  type BudgetAccount,
  type BudgetAccountKey,
  type BudgetCharge,
  type BudgetHold,
  type BudgetQuery,
  chargeAccount,
  type HeldShare,
  type HoldRenewal,
  type HoldResult,
  holdShare,
  type KeptAccount,
  sumOf,
} from "../../src/store/budget-store.ts";

interface KeptShare extends BudgetAccountKey {
  readonly hold: string;
  readonly attempt: string;
  readonly amount: number;
  readonly unbounded: boolean;
  readonly expiresAt: number;
}

export function plainBudgets() {
  const accounts = new Map<string, BudgetAccountKey & { readonly account: KeptAccount }>();
  let shares: readonly KeptShare[] = [];
  const keyOf = ({ budget, subject }: BudgetAccountKey) => JSON.stringify([budget, subject]);
  const keep = (key: BudgetAccountKey, account: KeptAccount) =>
    accounts.set(keyOf(key), { budget: key.budget, subject: key.subject, account });
  const live = (key: BudgetAccountKey, at: number) =>
    shares.filter((share) => keyOf(share) === keyOf(key) && share.expiresAt > at);
  const sum = (some: readonly KeptShare[]) => some.reduce((total, { amount }) => total + amount, 0);
  return {
    hold: ({ hold, attempt, at, expiresAt, shares: asked }: BudgetHold): HoldResult => {
      const held: HeldShare[] = [];
      for (const [index, share] of asked.entries()) {
        const others = live(share, at).filter((other) => other.hold !== hold);
        const beside = {
          ...{ count: others.length, amount: sum(others) },
          unbounded: others.some(({ unbounded }) => unbounded),
        };
        const result = holdShare(accounts.get(keyOf(share))?.account, beside, share);
        if ("account" in result) {
          held.push(result);
          continue;
        }
        if (result.raised !== undefined) keep(share, result.raised);
        if (result.kind === "busy") return { kind: "busy" };
        return { kind: "reached", share: index, used: result.used, limit: result.limit };
      }
      shares = shares.filter((share) => share.hold !== hold);
      for (const [index, { account, amount, unbounded }] of held.entries()) {
        const { budget = "", subject = "" } = asked[index] ?? {};
        keep({ budget, subject }, account);
        shares = [...shares, { hold, attempt, budget, subject, amount, unbounded, expiresAt }];
      }
      return { kind: "held", uses: held.map(({ used, limit }) => ({ used, limit })) };
    },
    charge: (charges: readonly BudgetCharge[]): void => {
      for (const { hold, attempt, budget, subject, amount, ...window } of charges) {
        const key = { budget, subject };
        const share = shares.find(
          (each) => each.hold === hold && each.attempt === attempt && keyOf(each) === keyOf(key),
        );
        if (share === undefined) continue;
        shares = shares.filter((each) => each !== share);
        keep(key, chargeAccount(accounts.get(keyOf(key))?.account, window, amount ?? share.amount));
      }
    },
    renew: ({ attempts, expiresAt }: HoldRenewal): void => {
      shares = shares.map((share) => (attempts.includes(share.attempt) ? { ...share, expiresAt } : share));
    },
    accounts: ({ budget, subject, at, limit }: BudgetQuery): BudgetAccount[] =>
      [...accounts.values()]
        .filter((each) => each.budget === budget && each.account.endsAt > at)
        .filter((each) => subject === undefined || each.subject === subject)
        .map(({ account: { startsAt, endsAt, used, raises }, ...key }) => ({
          ...{ ...key, startsAt, endsAt, used },
          ...{ held: sum(live(key, at)), raised: sumOf(raises) },
        }))
        .sort((a, b) => b.used - a.used || (a.subject < b.subject ? -1 : 1))
        .slice(0, limit),
    trim: ({ before, limit }: { readonly before: number; readonly limit: number }): number => {
      shares = shares.filter(({ expiresAt }) => expiresAt >= before);
      const old = [...accounts].filter(([, { account }]) => account.endsAt < before).slice(0, limit);
      for (const [key] of old) accounts.delete(key);
      return old.length;
    },
  };
}
