// Options of a host for counts over time.
import { OptionError } from "../../errors/index.ts";

export interface RollupOptions {
  /** Milliseconds that the counts of executions are kept; those of steps at most a day. Default: 7 days. */
  readonly maxAge?: number;
}

/** Milliseconds that counts are kept. */
export interface RollupAges {
  readonly executions: number;
  readonly steps: number;
}

const day = 24 * 60 * 60 * 1000;

export function rollupAgesOf({ maxAge = 7 * day }: RollupOptions): RollupAges {
  if (!(maxAge >= 0)) throw new OptionError({ option: "rollups.maxAge", problem: "expected milliseconds" });
  return { executions: maxAge, steps: Math.min(maxAge, day) };
}
