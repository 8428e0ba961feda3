// Budgets over windows of time: the part of the store contract that keeps what was used, and what calls in flight hold.
//
// An account is the use of one budget by one subject (a user, an agent, a tag, or all) in its current window. Before a call
// its share is held on all of its accounts or on none; the commit of the call replaces the share by the call's use.

/** The account of a subject; the name of a budget is that of its kind, its window and its unit. */
export interface BudgetAccountKey {
  readonly budget: string;
  /** "" for all, and for a user or an agent without an id. */
  readonly subject: string;
}

/** Milliseconds since 1970. */
export interface BudgetWindow {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** An amount that a person has added to the limit of the current window. */
export interface BudgetRaise {
  /** Adding the same one again changes nothing. */
  readonly id: string;
  readonly amount: number;
}

/** Amounts are tokens, or billionths of the host's currency. */
export interface BudgetShare extends BudgetAccountKey, BudgetWindow {
  readonly limit: number;
  /** As much as the call may use, as far as it is known; the largest call so far counts where it is more. */
  readonly amount: number;
  /** Its use has no bound: the first call of an account runs alone then. */
  readonly unbounded: boolean;
  readonly raise?: BudgetRaise;
}

/** The shares of one call: those of an earlier attempt of the same call are replaced. */
export interface BudgetHold {
  /** The call: the same when it is made again after a crash. */
  readonly hold: string;
  /** A random id: a process that was frozen takes no share of a later attempt away. */
  readonly attempt: string;
  readonly at: number;
  /** From then on its shares count no more, unless they are renewed. */
  readonly expiresAt: number;
  /** Each account once. */
  readonly shares: readonly BudgetShare[];
}

/** An account as a call finds it: `limit` has all raises. */
export interface BudgetUse {
  readonly used: number;
  readonly limit: number;
}

export type HoldResult =
  /** In the order of the shares. */
  | { readonly kind: "held"; readonly uses: readonly BudgetUse[] }
  /** The share does not fit beside those of calls in flight. */
  | { readonly kind: "busy" }
  /** The account of this share has used its limit. */
  | ({ readonly kind: "reached"; readonly share: number } & BudgetUse);

/** Replaces a share by the call's use; without the share it changes nothing. */
export interface BudgetCharge extends BudgetAccountKey, BudgetWindow {
  readonly hold: string;
  readonly attempt: string;
  /** Null: as much as the share. */
  readonly amount: number | null;
}

export interface BudgetAccount extends BudgetAccountKey, BudgetWindow {
  readonly used: number;
  /** The shares of calls in flight. */
  readonly held: number;
  /** Added to the limit by people. */
  readonly raised: number;
}

export interface BudgetQuery {
  readonly budget: string;
  readonly subject?: string | undefined;
  /** Accounts whose window has not ended then. */
  readonly at: number;
  readonly limit: number;
}

export interface HoldRenewal {
  /** The attempts of the calls under way. */
  readonly attempts: readonly string[];
  /** Those that the calls hold shares of, each once. */
  readonly accounts: readonly BudgetAccountKey[];
  readonly expiresAt: number;
}

export interface BudgetStore {
  hold(hold: BudgetHold): Promise<HoldResult>;
  /** For calls without a commit. */
  charge(charges: readonly BudgetCharge[]): Promise<void>;
  /** Lets shares count longer; those that were taken away meanwhile stay so. */
  renew(renewal: HoldRenewal): Promise<void>;
  /** The highest use first. */
  accounts(query: BudgetQuery): Promise<readonly BudgetAccount[]>;
  /** Removes at most so many accounts whose window ended before this time, and shares that expired before it; returns how many accounts. */
  trim(query: { readonly before: number; readonly limit: number }): Promise<number>;
}

/** The account as the store keeps it. */
export interface KeptAccount extends BudgetWindow {
  readonly used: number;
  /** The largest call so far, of earlier windows too. */
  readonly largest: number;
  /** The raises of its window, by id. */
  readonly raises: Readonly<Record<string, number>>;
}

/** The shares of other calls on an account that have not expired. */
export interface OtherShares {
  readonly count: number;
  readonly amount: number;
  readonly unbounded: boolean;
}

/** An account after a share of it is held, and the share. */
export interface HeldShare extends BudgetUse {
  readonly account: KeptAccount;
  readonly amount: number;
  readonly unbounded: boolean;
}

/** A share that is not held. */
export interface RefusedShare extends BudgetUse {
  readonly kind: "busy" | "reached";
  /** The account with the raise of the share, to be kept: several raises may be needed. Absent without a new raise. */
  readonly raised?: KeptAccount;
}

/** Decides on one share. */
export function holdShare(
  kept: KeptAccount | undefined,
  others: OtherShares,
  share: BudgetShare,
): HeldShare | RefusedShare {
  const account = inWindow(kept, share);
  const raises = raisesWith(account.raises, share.raise);
  const { used, largest } = account;
  const limit = share.limit + sumOf(raises);
  const refused = { used, limit, ...(raises !== account.raises && { raised: { ...account, raises } }) };
  if (used >= limit) return { kind: "reached", ...refused };
  const amount = Math.max(share.amount, largest);
  const unbounded = share.unbounded && largest === 0;
  const fits = !unbounded && !others.unbounded && used + others.amount + amount <= limit;
  if (others.count > 0 && !fits) return { kind: "busy", ...refused };
  return { account: { ...account, raises }, amount, unbounded, used, limit };
}

/** The account after the use of a call. A call that ends in a window which is over counts no more. */
export function chargeAccount(
  kept: KeptAccount | undefined,
  window: BudgetWindow,
  amount: number,
): KeptAccount {
  if (kept !== undefined && kept.startsAt > window.startsAt) return kept;
  const account = inWindow(kept, window);
  return {
    ...account,
    used: Math.min(account.used + amount, Number.MAX_SAFE_INTEGER),
    largest: Math.max(account.largest, amount),
  };
}

/** The account in this window, or in a later one that another node has begun. */
function inWindow(kept: KeptAccount | undefined, { startsAt, endsAt }: BudgetWindow): KeptAccount {
  if (kept !== undefined && kept.startsAt >= startsAt) return kept;
  return { startsAt, endsAt, used: 0, largest: kept?.largest ?? 0, raises: {} };
}

/** The raises that a window keeps. */
const maxRaises = 1000;

function raisesWith(raises: KeptAccount["raises"], raise: BudgetRaise | undefined): KeptAccount["raises"] {
  if (raise === undefined || Object.hasOwn(raises, raise.id)) return raises;
  return Object.keys(raises).length >= maxRaises ? raises : { ...raises, [raise.id]: raise.amount };
}

export function sumOf(raises: KeptAccount["raises"]): number {
  return Object.values(raises).reduce((sum, amount) => sum + amount, 0);
}
