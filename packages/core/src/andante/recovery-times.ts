// The lease of claims and the periods of polls, in milliseconds: shorter where other processes share the store.
import type { Store } from "../store/store.ts";

export interface RecoveryTimes {
  /** How long a claim outlives its owner's last heartbeat. */
  readonly lease: number;
  /** Between two heartbeats, each with a poll for abandoned work. */
  readonly period: number;
  /** Between two polls for due timers; timers of this process are found without them. */
  readonly duePeriod: number;
}

/** Where other processes may leave work behind, this process polls more often. */
export function recoveryTimes({ clusterChannel }: Store): RecoveryTimes {
  if (clusterChannel === undefined) return { lease: 30_000, period: 10_000, duePeriod: 60_000 };
  const { lease } = clusterChannel;
  return { lease, period: Math.min(1000, lease / 5), duePeriod: 2000 };
}
