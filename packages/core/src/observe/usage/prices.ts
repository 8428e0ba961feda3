// The host's prices of models, and the money for one call.
import { OptionError } from "../../errors/index.ts";
import {
  cacheWritesOf,
  fromNanos,
  maxCallNanos,
  moneyDetails,
  type StoredUsage,
  toNanos,
} from "../../store/usage.ts";
import { isRecord } from "../../values/fields.ts";
import type { Logger } from "../log/logger.ts";

/** The prices of one model for a million tokens, in the host's one currency. */
export interface ModelPrice {
  readonly input: number;
  /** Tokens that come from the provider's cache. Default: `input`. */
  readonly cached?: number;
  /** Tokens that are written to the provider's cache. Default: `input`. */
  readonly cacheWrite?: number;
  /** Those of reasoning included. */
  readonly output: number;
}

/**
 * Prices by model, such as `"openai/gpt-5"`: the provider up to its first dot, and the model's id. Or a function of the
 * model and the day (`"2026-11-18"`, UTC), which returns null for a model without a known price.
 */
export type Prices =
  | Readonly<Record<string, ModelPrice>>
  | ((model: string, day: string) => ModelPrice | null | undefined);

const fields = ["input", "cached", "cacheWrite", "output"] as const;

/** Why it is no price; undefined when it is one. */
function problemOf(price: unknown): string | undefined {
  if (!isRecord(price)) return "expected an object with input and output";
  for (const name of Object.keys(price))
    if (!fields.some((field) => field === name))
      return `there is no price for "${name}"; known are ${fields.join(", ")}`;
  for (const name of fields) {
    const value = price[name];
    const isOptional = name === "cached" || name === "cacheWrite";
    if (value === undefined && isOptional) continue;
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      return `${name} must be a finite number of 0 or more, for a million tokens`;
  }
  return undefined;
}

/** Throws for prices that could never be used. */
export function checkPrices(prices: Prices | undefined): void {
  if (prices === undefined || typeof prices === "function") return;
  if (!isRecord(prices))
    throw new OptionError({ option: "prices", problem: "expected an object by model, or a function" });
  for (const [model, price] of Object.entries(prices)) {
    const problem = problemOf(price);
    if (problem !== undefined) throw new OptionError({ option: `prices["${model}"]`, problem });
  }
}

/** The names under which a price of a model may be given, the most precise first. */
function keysOf(model: string): readonly string[] {
  const [, provider = "", id = ""] = /^([^/]*)\/(.*)$/s.exec(model) ?? [];
  const short = `${provider.replace(/\..*$/s, "")}/${id}`;
  // A gateway's model has the name of its provider in its id.
  return id.includes("/") ? [model, short, id] : [model, short];
}

export class PriceList {
  readonly #prices: Prices;
  readonly #logger: Logger;
  /** Models of which a line was written that the function failed. */
  readonly #warned = new Set<string>();

  constructor(prices: Prices, logger: Logger) {
    this.#prices = prices;
    this.#logger = logger;
  }

  /** The usage of calls of one model with its money. `model`: provider and name; null when it is not known. */
  priced(model: string | null, usage: StoredUsage, day: string): StoredUsage {
    const price = model === null ? undefined : this.#priceOf(model, day);
    // A provider that reports no tokens has not worked for nothing.
    const isKnown = price !== undefined && usage.inputTokens + usage.outputTokens > 0;
    const money = isKnown ? moneyFor(usage, price) : undefined;
    return { ...usage, ...moneyDetails(money, isKnown ? 0 : usage.calls) };
  }

  #priceOf(model: string, day: string): ModelPrice | undefined {
    const prices = this.#prices;
    if (typeof prices !== "function") {
      const key = keysOf(model).find((name) => Object.hasOwn(prices, name));
      return key === undefined ? undefined : prices[key];
    }
    try {
      for (const key of keysOf(model)) {
        const price = prices(key, day);
        if (price === null || price === undefined) continue;
        const problem = problemOf(price);
        if (problem === undefined) return price;
        throw new OptionError({ option: "prices", problem });
      }
    } catch (err) {
      this.#warn(model, err);
    }
    return undefined;
  }

  #warn(model: string, err: unknown): void {
    if (this.#warned.has(model) || this.#warned.size >= maxWarned) return;
    this.#warned.add(model);
    this.#logger.warn(
      { err, model },
      "the prices option failed; the calls of this model count without money",
    );
  }
}

const maxWarned = 1000;

function moneyFor(usage: StoredUsage, { input, cached = input, cacheWrite = input, output }: ModelPrice) {
  const { inputTokens, outputTokens, cachedInputTokens: read = 0 } = usage;
  const written = cacheWritesOf(usage);
  const plain = Math.max(0, inputTokens - read - written);
  const perMillion = plain * input + read * cached + written * cacheWrite + outputTokens * output;
  return fromNanos(Math.min(toNanos(perMillion / 1e6), maxCallNanos));
}
