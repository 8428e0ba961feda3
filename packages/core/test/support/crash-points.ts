// The crash points of a sweep over the writes of a process: a third of them in `npm test`, all of them in `.ci/run`.
import type { Crash } from "../../src/test-kit/crashing-store.ts";

/** Whether this run has the time for every case. */
export const isExhaustive = process.env.ANDANTE_CRASH_POINTS === "all";

interface CrashPointsOptions {
  /** The first write. Default: 1. */
  readonly first?: number;
  /** The last write. Default: none; the caller stops when a process has not crashed. */
  readonly last?: number;
  /** Default: both. */
  readonly variants?: readonly Crash["variant"][];
}

/** One in three has each variant in turn: the first write is lost, the second is not acknowledged, the fourth is lost. */
export function* crashPoints(options: CrashPointsOptions = {}): Generator<Crash> {
  const { first = 1, last = Number.POSITIVE_INFINITY, variants = ["lost", "unacknowledged"] } = options;
  for (let write = first; write <= last; write++)
    for (const variant of variants)
      if (isExhaustive || write % 3 === (variant === "lost" ? 1 : 2)) yield { write, variant };
}
