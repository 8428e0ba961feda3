// Holds the shares of calls of models on the budgets of the host, and counts their use.
//
// A share is held before a call and taken away by the commit that records the call, or by a write where there is no commit.
// While a call is under way its process renews its share; the share of a process that died stops counting a minute later, and
// at once where the same call is made again.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BudgetUsedUpError, ModelPriceError, StoreRefusedError } from "../../errors/index.ts";
import type {
  BudgetAccount,
  BudgetAccountKey,
  BudgetCharge,
  BudgetShare,
  BudgetStore,
  BudgetWindow,
} from "../../store/budget-store.ts";
import { fromNanos, type StoredUsage, toNanos } from "../../store/usage.ts";
import type { Clock } from "../../values/clock.ts";
import type { Logger } from "../log/logger.ts";
import type { BudgetSubject, CountedBudget } from "./budget-options.ts";

/** Whose call it is. */
export interface BudgetedCaller {
  readonly userId: string | null | undefined;
  readonly agentId: string;
  /** Of its execution. */
  readonly tags: readonly string[];
}

/** A call of a model that is about to be made. */
export interface BudgetedCall extends BudgetedCaller {
  /** Its name: the same when it is made again after a crash. */
  readonly hold: string;
  /** Provider and name; null when it is not known. */
  readonly model: string | null;
  /** As much as it may use, as far as it is known. */
  readonly estimate: StoredUsage;
  /** The length of its reply has no bound. */
  readonly unbounded: boolean;
}

/** A decision of a person to allow more. */
export interface AllowedMore {
  /** The name of the budget, and the subject. */
  readonly account: BudgetAccountKey;
  /** The decision: it counts once. */
  readonly id: string;
  /** Tokens, or money. Default: as much as the limit. */
  readonly amount: number | undefined;
}

/** A budget that allows no call. */
export interface ReachedBudget {
  readonly budget: CountedBudget;
  readonly account: BudgetAccountKey;
  readonly error: BudgetUsedUpError;
  readonly used: number;
  readonly limit: number;
}

/** The use of a budget by one subject in its current window. */
export interface BudgetState {
  readonly per: BudgetSubject;
  /** A user, an agent or a tag; null for all, and for a user or an agent without an id. */
  readonly subject: string | null;
  readonly unit: "money" | "tokens";
  /** Milliseconds. */
  readonly window: number;
  readonly startsAt: string;
  readonly endsAt: string;
  /** The limit with the amounts that people have added. */
  readonly limit: number;
  readonly used: number;
  /** As much as the calls in flight may use. */
  readonly held: number;
  readonly warnAt: number;
  readonly onReached: "refuse" | "suspend";
}

/** Milliseconds that a share counts without its process, and after which it is renewed. */
const lease = 60_000;
const renewPeriod = 20_000;
/** Milliseconds between two tries to hold a share, at first and at most. */
const [firstPause, longestPause] = [20, 500];
/** Milliseconds for which the use of a call is written again. */
const writePatience = 300_000;
const maxWarned = 1000;
/** Calls whose attempts are remembered: a commit follows the end of its call within moments. */
const maxAttempts = 10_000;
/** Milliseconds that an account outlives its window. */
const keptFor = 7 * 86_400_000;

export interface BudgetsParts {
  readonly budgets: readonly CountedBudget[];
  readonly store: BudgetStore;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
  /** Puts a price on a call. */
  readonly priced: (model: string | null, usage: StoredUsage) => StoredUsage;
}

interface Asking {
  readonly attempt: string;
  readonly signal: AbortSignal | undefined;
  readonly more: AllowedMore | undefined;
}

function isSame(one: BudgetAccountKey, other: BudgetAccountKey): boolean {
  return one.budget === other.budget && one.subject === other.subject;
}

interface BudgetAccountOf {
  readonly budget: CountedBudget;
  readonly key: BudgetAccountKey;
}

export class Budgets {
  readonly #parts: BudgetsParts;
  /** The calls under way, by their names. */
  readonly #held = new Map<string, readonly BudgetAccountKey[]>();
  /** The last attempts of calls, by their names; a commit charges them. */
  readonly #attempts = new Map<string, string>();
  readonly #warned = new Set<string>();
  /** The writes under way. */
  readonly #writing = new Set<Promise<void>>();
  #renewing: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: BudgetsParts) {
    this.#parts = parts;
  }

  /**
   * Holds the shares of a call; waits while they do not fit beside those of calls in flight. Resolves to the budget that is
   * used up, or to undefined when the call may be made.
   */
  async hold(
    call: BudgetedCall,
    signal?: AbortSignal,
    more?: AllowedMore,
  ): Promise<ReachedBudget | undefined> {
    const accounts = this.#accountsOf(call);
    if (accounts.length === 0) return undefined;
    const asking = { attempt: randomUUID(), signal, more };
    if (more === undefined) return this.#hold(call, accounts, asking);
    // By itself first: an amount that a person has allowed counts also when another budget is used up.
    const raised = accounts.filter(({ key }) => isSame(key, more.account));
    const still = await this.#hold(call, raised, asking);
    if (still !== undefined) return still;
    const reached = await this.#hold(call, accounts, asking);
    if (reached !== undefined) void this.charge(call, undefined);
    return reached;
  }

  async #hold(
    call: BudgetedCall,
    accounts: readonly BudgetAccountOf[],
    { attempt, signal, more }: Asking,
  ): Promise<ReachedBudget | undefined> {
    const { store, clock } = this.#parts;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      const at = clock.now();
      const shares = accounts.map((account) => this.#shareOf(account, call, at, more));
      const result = await store.hold({ hold: call.hold, attempt, at, expiresAt: at + lease, shares });
      if (result.kind === "reached") {
        const account = accounts[result.share];
        return account && this.#reached(account, at, result);
      }
      if (result.kind === "held") {
        for (const [index, use] of result.uses.entries()) this.#warn(accounts[index], at, use);
        this.#begun(call.hold, attempt, accounts);
        return undefined;
      }
      await sleep(pause, undefined, signal && { signal });
    }
  }

  /** The call has ended; its commit charges it. */
  ended(hold: string): void {
    this.#held.delete(hold);
    if (this.#held.size > 0) return;
    clearInterval(this.#renewing);
    this.#renewing = undefined;
  }

  /** The charges of a call that has ended. Tokens and money that are not known count as much as its share. */
  charges({
    hold,
    usage,
    at,
    ...caller
  }: BudgetedCaller & {
    readonly hold: string;
    readonly usage: StoredUsage;
    readonly at: number;
  }): readonly BudgetCharge[] {
    const attempt = this.#attempts.get(hold) ?? "";
    return this.#accountsOf(caller).map(({ budget, key }) => ({
      ...{ hold, attempt, ...key, ...windowOf(budget, at) },
      amount: budget.unit === "tokens" ? usage.totalTokens || null : nanosOf(usage),
    }));
  }

  /** Charges a call that no commit has. `usage`: undefined for one that failed, which is not counted. */
  async charge(
    call: BudgetedCaller & { readonly hold: string },
    usage: StoredUsage | undefined,
  ): Promise<void> {
    this.ended(call.hold);
    const at = this.#parts.clock.now();
    const used = usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0, money: 0 };
    const charges = this.charges({ ...call, usage: used, at });
    const amounts = usage === undefined ? charges.map((each) => ({ ...each, amount: 0 })) : charges;
    this.#attempts.delete(call.hold);
    if (amounts.length === 0) return;
    const { store } = this.#parts;
    await this.#insist(async () => {
      await store.charge(amounts);
      return true;
    });
  }

  /** Counts a call that was made without a share. */
  async count(caller: BudgetedCaller, usage: StoredUsage): Promise<void> {
    const hold = randomUUID();
    const { store, clock } = this.#parts;
    const accounts = this.#accountsOf(caller);
    if (accounts.length === 0) return;
    this.#attempts.set(hold, hold);
    // Waits for calls in flight whose use has no bound, as any call does.
    await this.#insist(async () => {
      const at = clock.now();
      const shares = accounts.map(({ budget, key }) => ({
        ...{ ...key, ...windowOf(budget, at), limit: Number.MAX_SAFE_INTEGER },
        ...{ amount: 1, unbounded: false },
      }));
      const { kind } = await store.hold({ hold, attempt: hold, at, expiresAt: at + lease, shares });
      return kind !== "busy";
    });
    await this.charge({ ...caller, hold }, usage);
  }

  /** Works until it is done, also while the store cannot, such as while its database fails over. Never rejects. */
  async #insist(work: () => Promise<boolean>): Promise<void> {
    const working = this.#repeat(work)
      .catch((err) => this.#parts.logger.warn({ err }, "the use of a budget could not be written"))
      .finally(() => this.#writing.delete(working));
    this.#writing.add(working);
    await working;
  }

  async #repeat(work: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + writePatience;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      const isOver = this.#isClosed || performance.now() > until;
      try {
        if (await work()) return;
        if (isOver) throw new Error("other calls were in flight for too long");
      } catch (error) {
        if (isOver || error instanceof StoreRefusedError) throw error;
      }
      await sleep(pause, undefined, { ref: false });
    }
  }

  /** Rejects when a budget is used up. `model`: null for calls that cannot be seen; undefined to leave prices out. */
  async check(
    caller: BudgetedCaller,
    { model, only }: { model?: null; only?: "refuse" } = {},
  ): Promise<void> {
    const at = this.#parts.clock.now();
    for (const account of this.#accountsOf(caller)) {
      const { budget } = account;
      if (only !== undefined && budget.onReached !== only) continue;
      if (model === null && budget.unit === "money") throw new ModelPriceError({ model: "unknown" });
      const { used, raised } = await this.#read(account, at);
      const limit = budget.limit + raised;
      if (used >= limit) throw this.#reached(account, at, { used, limit }).error;
    }
  }

  /** The accounts of each budget, the highest use first. */
  async states(limit: number): Promise<readonly BudgetState[]> {
    const at = this.#parts.clock.now();
    const { budgets, store } = this.#parts;
    const states = budgets.map(async (budget) => {
      const found = await store.accounts({ budget: budget.name, at, limit });
      const shown = found.length === 0 && budget.per === "all" ? [this.#unused(budget, "", at)] : found;
      return shown.map((account) => stateOf(budget, account));
    });
    return (await Promise.all(states)).flat();
  }

  /** The budgets of a caller; those of agents where its agent is known. */
  async statesOf(caller: Partial<BudgetedCaller>): Promise<readonly BudgetState[]> {
    const at = this.#parts.clock.now();
    const isAsked = ({ budget }: BudgetAccountOf) => budget.per !== "agent" || caller.agentId !== undefined;
    const accounts = this.#accountsOf(caller).filter(isAsked);
    return Promise.all(
      accounts.map(async (account) => stateOf(account.budget, await this.#read(account, at))),
    );
  }

  async trim(limit: number): Promise<number> {
    return this.#parts.store.trim({ before: this.#parts.clock.now() - keptFor, limit });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#renewing);
    await Promise.all(this.#writing);
  }

  #accountsOf(caller: Partial<BudgetedCaller>): readonly BudgetAccountOf[] {
    return this.#parts.budgets.flatMap((budget) =>
      subjectsOf(budget.per, caller).map((subject) => ({ budget, key: { budget: budget.name, subject } })),
    );
  }

  #shareOf(
    { budget, key }: BudgetAccountOf,
    call: BudgetedCall,
    at: number,
    more?: AllowedMore,
  ): BudgetShare {
    const { limit, unit } = budget;
    const amount = unit === "tokens" ? call.estimate.totalTokens : this.#priceOf(call);
    const added = more?.amount === undefined ? limit : inUnits(unit, more.amount);
    return {
      ...{ ...key, ...windowOf(budget, at), limit, unbounded: call.unbounded },
      amount: Math.max(1, amount),
      ...(more && isSame(key, more.account) && { raise: { id: more.id, amount: added } }),
    };
  }

  /** The most that the estimated tokens cost. A model without a price could use up any budget unseen. */
  #priceOf({ model, estimate }: BudgetedCall): number {
    const written = {
      ...estimate,
      inputTokenDetails: { cacheReadTokens: 0, cacheWriteTokens: estimate.inputTokens },
    };
    const prices = [estimate, written].map((usage) => nanosOf(this.#parts.priced(model, usage)));
    const [plain, cached] = prices;
    if (plain === null || plain === undefined) throw new ModelPriceError({ model: model ?? "unknown" });
    return Math.max(plain, cached ?? 0);
  }

  async #read({ budget, key }: BudgetAccountOf, at: number): Promise<BudgetAccount> {
    const [found] = await this.#parts.store.accounts({ ...key, at, limit: 1 });
    return found ?? this.#unused(budget, key.subject, at);
  }

  #unused(budget: CountedBudget, subject: string, at: number): BudgetAccount {
    return { budget: budget.name, subject, ...windowOf(budget, at), used: 0, held: 0, raised: 0 };
  }

  #reached(
    { budget, key }: BudgetAccountOf,
    at: number,
    { used, limit }: { readonly used: number; readonly limit: number },
  ): ReachedBudget {
    const { endsAt } = windowOf(budget, at);
    const [shown, unit] = [outOfUnits(budget.unit, limit), budget.unit];
    const until = new Date(endsAt).toISOString();
    const retryAfter = Math.max(1, Math.ceil((endsAt - at) / 1000));
    const error = new BudgetUsedUpError({ per: budget.per, limit: shown, unit, until, retryAfter });
    return { budget, account: key, error, used: outOfUnits(unit, used), limit: shown };
  }

  #warn(
    account: BudgetAccountOf | undefined,
    at: number,
    { used, limit }: { readonly used: number; readonly limit: number },
  ): void {
    if (account === undefined || used < limit * account.budget.warnAt) return;
    const { budget, key } = account;
    const { startsAt, endsAt } = windowOf(budget, at);
    const name = JSON.stringify([key.budget, key.subject, startsAt]);
    if (this.#warned.has(name)) return;
    if (this.#warned.size >= maxWarned) this.#warned.clear();
    this.#warned.add(name);
    const amounts = { used: outOfUnits(budget.unit, used), limit: outOfUnits(budget.unit, limit) };
    const fields = { per: budget.per, subject: key.subject, unit: budget.unit, ...amounts };
    this.#parts.logger.warn(
      { ...fields, endsAt: new Date(endsAt).toISOString() },
      "a budget is nearly used up",
    );
  }

  #begun(hold: string, attempt: string, accounts: readonly BudgetAccountOf[]): void {
    this.#attempts.set(hold, attempt);
    const [oldest] = this.#attempts.keys();
    if (this.#attempts.size > maxAttempts && oldest !== undefined) this.#attempts.delete(oldest);
    this.#held.set(
      hold,
      accounts.map(({ key }) => key),
    );
    this.#renewing ??= setInterval(() => void this.#renew(), renewPeriod).unref();
  }

  async #renew(): Promise<void> {
    const keys = [...this.#held.values()].flat();
    const accounts = [
      ...new Map(keys.map((key) => [JSON.stringify([key.budget, key.subject]), key])).values(),
    ];
    const expiresAt = this.#parts.clock.now() + lease;
    const attempts = [...this.#held.keys()].map((hold) => this.#attempts.get(hold) ?? "");
    await this.#parts.store
      .renew({ attempts, accounts, expiresAt })
      .catch((err) => this.#parts.logger.debug({ err }, "shares of budgets could not be renewed"));
  }
}

function windowOf({ window }: CountedBudget, at: number): BudgetWindow {
  const startsAt = Math.floor(at / window) * window;
  return { startsAt, endsAt: startsAt + window };
}

function subjectsOf(
  per: BudgetSubject,
  { userId, agentId, tags = [] }: Partial<BudgetedCaller>,
): readonly string[] {
  if (per === "tag") return tags;
  if (per === "all") return [""];
  return [(per === "user" ? userId : agentId) ?? ""];
}

function nanosOf({ money }: StoredUsage): number | null {
  return money === undefined ? null : toNanos(money);
}

function inUnits(unit: CountedBudget["unit"], amount: number): number {
  return unit === "money" ? toNanos(amount) : Math.round(amount);
}

function outOfUnits(unit: CountedBudget["unit"], amount: number): number {
  return unit === "money" ? fromNanos(amount) : amount;
}

function stateOf(budget: CountedBudget, account: BudgetAccount): BudgetState {
  const { per, unit, window, warnAt, onReached } = budget;
  const { subject, startsAt, endsAt, used, held, raised } = account;
  return {
    ...{ per, subject: per === "all" || subject === "" ? null : subject, unit, window },
    ...{ startsAt: new Date(startsAt).toISOString(), endsAt: new Date(endsAt).toISOString() },
    limit: outOfUnits(unit, budget.limit + raised),
    used: outOfUnits(unit, used),
    held: outOfUnits(unit, held),
    ...{ warnAt, onReached },
  };
}
