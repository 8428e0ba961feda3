// How often and after which delay a failed body runs again.
import { DefinitionError } from "../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";
import { type Duration, parseDuration } from "../values/duration.ts";

export interface RetryOptions {
  /** How often the body may run, the first time included. */
  readonly attempts: number;
  /** `exponential` doubles the delay each time. Default: `exponential`. */
  readonly backoff?: "fixed" | "exponential";
  /** The delay before the second attempt. Default: 1 s. */
  readonly delay?: Duration;
  /** The longest delay. Default: 5 min. */
  readonly maxDelay?: Duration;
  /**
   * Shortens each delay by a random part, up to half of it, so that many that failed together do not come back
   * together. Default: true.
   */
  readonly jitter?: boolean;
}

/** The options with every default in place, durations in milliseconds. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly backoff: "fixed" | "exponential";
  readonly delay: number;
  readonly maxDelay: number;
  readonly jitter: boolean;
}

const maxAttempts = 1000;

const knownOptions: KnownOptions<RetryOptions> = {
  attempts: true,
  backoff: true,
  delay: true,
  maxDelay: true,
  jitter: true,
};

export function checkRetry(options: RetryOptions | undefined, where: string): RetryPolicy | undefined {
  if (options === undefined) return undefined;
  checkKnownOptions(`${where}, retry`, options, knownOptions);
  // JavaScript may pass null, which has no attempts.
  const given: Partial<RetryOptions> = options ?? {};
  const { attempts = 0, backoff = "exponential", delay = 1000, maxDelay = "5m", jitter = true } = given;
  const wrong = (problem: string) => new DefinitionError({ where: `${where}, retry`, problem });
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > maxAttempts) {
    throw wrong(`attempts must be a whole number from 1 to ${maxAttempts}`);
  }
  if (backoff !== "fixed" && backoff !== "exponential")
    throw wrong('backoff must be "fixed" or "exponential"');
  if (typeof jitter !== "boolean") throw wrong("jitter must be true or false");
  return {
    attempts,
    backoff,
    delay: parseDuration(delay, `${where}, retry.delay`),
    maxDelay: parseDuration(maxDelay, `${where}, retry.maxDelay`),
    jitter,
  };
}

/** Milliseconds to wait after the failure of this attempt; `random` is from 0 to 1. */
export function delayAfter(policy: RetryPolicy, attempt: number, random: number): number {
  const factor = policy.backoff === "exponential" ? 2 ** (attempt - 1) : 1;
  const full = Math.min(policy.delay * factor, policy.maxDelay);
  return Math.round(policy.jitter ? full * (1 - random / 2) : full);
}
