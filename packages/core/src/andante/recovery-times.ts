// How long claims last, and how often a process looks for work: by who else uses the store. In milliseconds.
import type { Store } from "../store/store.ts";

export interface RecoveryTimes {
  /** How long a claim outlives its owner's last heartbeat. */
  readonly lease: number;
  /** Between two heartbeats, each with a poll for abandoned work. */
  readonly period: number;
  /** Between two polls for due timers; timers of this process are found without them. */
  readonly duePeriod: number;
}

/** Where others may leave something behind, this process looks more often. */
export function recoveryTimes({ clusterChannel }: Store): RecoveryTimes {
  if (clusterChannel === undefined) return { lease: 30_000, period: 10_000, duePeriod: 60_000 };
  const { lease } = clusterChannel;
  return { lease, period: Math.min(1000, lease / 5), duePeriod: 2000 };
}
