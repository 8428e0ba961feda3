// The host's budgets over windows of time, and the check that refuses ones that could never work.
import { OptionError } from "../../errors/index.ts";
import { toNanos } from "../../store/usage.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import { isRecord } from "../../values/fields.ts";
import type { Prices } from "./prices.ts";

export const budgetSubjects = ["user", "agent", "tag", "all"] as const;

/** Who has a budget of its own: each user, each agent, each tag of executions, or all calls together. */
export type BudgetSubject = (typeof budgetSubjects)[number];

/** A limit for models over a window of time: either `money` or `tokens`. */
export interface BudgetOptions {
  readonly per: BudgetSubject;
  /** The length of the window, such as `"1d"`: windows follow each other, in UTC, from 1970 on. */
  readonly window: Duration;
  /** In the currency of the host's prices. */
  readonly money?: number;
  /** Tokens of prompts and replies together. */
  readonly tokens?: number;
  /** The part of the limit at which a line warns. Default: 0.8. */
  readonly warnAt?: number;
  /**
   * `"suspend"`: an execution, or a reply of a conversation, waits in the inbox until a person allows more or ends it. Default:
   * `"refuse"`: the call fails until the window ends.
   */
  readonly onReached?: "refuse" | "suspend";
}

/** A budget as it is counted: tokens, or billionths of the currency. */
export interface CountedBudget {
  /** Its name in the store. */
  readonly name: string;
  readonly per: BudgetSubject;
  readonly window: number;
  readonly unit: "money" | "tokens";
  readonly limit: number;
  readonly warnAt: number;
  readonly onReached: "refuse" | "suspend";
}

const known: KnownOptions<BudgetOptions> = {
  per: true,
  window: true,
  money: true,
  tokens: true,
  warnAt: true,
  onReached: true,
};

const maxBudgets = 20;
/** A minute and a leap year. */
const [minWindow, maxWindow] = [60_000, 366 * 86_400_000];

/** Throws for budgets that could never work; undefined where there are none. */
export function countedBudgets(
  budgets: readonly BudgetOptions[] | undefined,
  prices: Prices | undefined,
): readonly CountedBudget[] | undefined {
  if (budgets === undefined) return undefined;
  if (!Array.isArray(budgets) || budgets.length === 0 || budgets.length > maxBudgets)
    throw new OptionError({ option: "budgets", problem: `expected a list of 1 to ${maxBudgets} budgets` });
  const counted = budgets.map((budget, index) => countedBudget(budget, `budgets[${index}]`, prices));
  for (const [index, { name }] of counted.entries()) {
    if (counted.findIndex((other) => other.name === name) === index) continue;
    const problem = "there is another budget with the same per, window and unit";
    throw new OptionError({ option: `budgets[${index}]`, problem });
  }
  return counted;
}

function countedBudget(given: unknown, where: string, prices: Prices | undefined): CountedBudget {
  const fail = (field: string, problem: string) => new OptionError({ option: `${where}${field}`, problem });
  if (!isRecord(given)) throw fail("", "expected an object");
  checkKnownOptions(where, given, known);
  const { warnAt = 0.8, onReached = "refuse" } = given;
  const per = budgetSubjects.find((subject) => subject === given.per);
  if (per === undefined) throw fail(".per", `expected one of ${budgetSubjects.join(", ")}`);
  const window = windowOf(given.window, fail);
  const { unit, limit } = limitOf(given, prices, fail);
  if (typeof warnAt !== "number" || !(warnAt > 0 && warnAt <= 1))
    throw fail(".warnAt", "expected a number above 0, at most 1");
  if (onReached !== "refuse" && onReached !== "suspend")
    throw fail(".onReached", 'expected "refuse" or "suspend"');
  return { name: `${per}/${window}/${unit}`, per, window, unit, limit, warnAt, onReached };
}

type Fail = (field: string, problem: string) => OptionError;

function windowOf(given: unknown, fail: Fail): number {
  const problem = 'expected a duration from "1m" to "366d", such as "1d"';
  try {
    const window = parseDuration(given, "window");
    if (window >= minWindow && window <= maxWindow) return window;
  } catch (cause) {
    throw fail(".window", problem + (cause instanceof Error ? `, received ${JSON.stringify(given)}` : ""));
  }
  throw fail(".window", problem);
}

function limitOf(
  { money, tokens }: Readonly<Record<string, unknown>>,
  prices: Prices | undefined,
  fail: Fail,
): Pick<CountedBudget, "unit" | "limit"> {
  if ((money === undefined) === (tokens === undefined)) throw fail("", "expected either money or tokens");
  if (tokens !== undefined) {
    if (typeof tokens !== "number" || !Number.isSafeInteger(tokens) || tokens < 1)
      throw fail(".tokens", "expected a whole number of 1 or more");
    return { unit: "tokens", limit: tokens };
  }
  const limit = typeof money === "number" ? toNanos(money) : Number.NaN;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw fail(".money", "expected an amount above 0, of at most 9 million");
  if (prices === undefined) throw fail(".money", "needs the option prices");
  return { unit: "money", limit };
}
