// Budgets over windows of time: the object of logs and counts keeps all accounts, so that one call holds its shares on several
// of them at once. A commit sends its charges there before it is written: a charge that comes twice finds no share.
import {
  type BudgetAccountKey,
  type BudgetCharge,
  type BudgetHold,
  chargeAccount,
  type HeldShare,
  type HoldRenewal,
  type HoldResult,
  holdShare,
  type KeptAccount,
  sumOf,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { columnsOf, field } from "./lines.ts";

export const budgetColumns = columnsOf("budget subject startsAt endsAt used raised whole");

/** By the call that holds it. */
type KeptShares = Readonly<
  Record<string, readonly [amount: number, unbounded: boolean, expiresAt: number, attempt: string]>
>;

export interface KeptBudget {
  readonly account: KeptAccount;
  readonly shares: KeptShares;
}

/** The shares that count, and their sum. */
export function sharesIn({ shares = {} }: Partial<KeptBudget>, at: number, but?: string) {
  const live = Object.entries(shares).filter(([hold, [, , expiresAt]]) => hold !== but && expiresAt > at);
  return {
    count: live.length,
    amount: live.reduce((sum, [, [amount]]) => sum + amount, 0),
    unbounded: live.some(([, [, unbounded]]) => unbounded),
  };
}

const keyOf = ({ budget, subject }: BudgetAccountKey) => `bu/${JSON.stringify([budget, subject])}`;

function budgetOf(cells: Cells, key: BudgetAccountKey): Promise<KeptBudget | undefined> {
  return cells.read<KeptBudget>(keyOf(key));
}

function keep(cells: Cells, key: BudgetAccountKey, kept: KeptBudget): void {
  const { startsAt, endsAt, used, raises } = kept.account;
  const columns = [field(key.budget), field(key.subject), startsAt, endsAt, used, sumOf(raises)];
  cells.set(keyOf(key), kept, ...columns);
}

/** Milliseconds after which a share that has expired is forgotten: its call may end until then. */
const forgottenAfter = 3_600_000;

async function holdBudgets(
  cells: Cells,
  { hold, attempt, at, expiresAt, shares: asked }: BudgetHold,
): Promise<HoldResult> {
  const held: (HeldShare & { readonly shares: KeptShares })[] = [];
  for (const [index, share] of asked.entries()) {
    const kept = await budgetOf(cells, share);
    const beside = sharesIn(kept ?? {}, at, hold);
    const result = holdShare(kept?.account, beside, share);
    const shares = kept?.shares ?? {};
    if ("account" in result) {
      held.push({ ...result, shares });
      continue;
    }
    if (result.raised !== undefined) keep(cells, share, { account: result.raised, shares });
    if (result.kind === "busy") return { kind: "busy" };
    return { kind: "reached", share: index, used: result.used, limit: result.limit };
  }
  for (const [index, { account, amount, unbounded, shares }] of held.entries()) {
    const share = asked[index];
    if (share === undefined) continue;
    const live = Object.entries(shares).filter(([, [, , expired]]) => expired > at - forgottenAfter);
    keep(cells, share, {
      account,
      shares: { ...Object.fromEntries(live), [hold]: [amount, unbounded, expiresAt, attempt] },
    });
  }
  return { kind: "held", uses: held.map(({ used, limit }) => ({ used, limit })) };
}

async function chargeBudgets(cells: Cells, charges: readonly BudgetCharge[]): Promise<void> {
  for (const { hold, attempt, budget, subject, amount, ...window } of charges) {
    const key = { budget, subject };
    const kept = await budgetOf(cells, key);
    const { [hold]: share, ...shares } = kept?.shares ?? {};
    if (share === undefined || share[3] !== attempt) continue;
    keep(cells, key, { account: chargeAccount(kept?.account, window, amount ?? share[0]), shares });
  }
}

async function renewHolds(cells: Cells, { attempts, accounts, expiresAt }: HoldRenewal): Promise<void> {
  for (const key of accounts) {
    const kept = await budgetOf(cells, key);
    if (kept === undefined) continue;
    const shares = Object.entries(kept.shares).map(([hold, [amount, unbounded, until, attempt]]) => [
      hold,
      [amount, unbounded, attempts.includes(attempt) ? expiresAt : until, attempt],
    ]);
    keep(cells, key, { ...kept, shares: Object.fromEntries(shares) });
  }
}

/** Removes those accounts that no call has used in a later window meanwhile; returns how many. */
async function dropBudgets(
  cells: Cells,
  { keys, before }: { readonly keys: readonly string[]; readonly before: number },
): Promise<number> {
  await cells.load(keys);
  const old = keys.filter((key) => (cells.get<KeptBudget>(key)?.account.endsAt ?? before) < before);
  for (const key of old) cells.clear(key);
  return old.length;
}

export const budgetReads = { budget: budgetOf };
export const budgetWrites = { holdBudgets, chargeBudgets, renewHolds, dropBudgets };
