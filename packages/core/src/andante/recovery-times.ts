// How long claims last, how often a process looks for work, and by which clock: by who else uses the store. In milliseconds.
import type { Store } from "../store/store.ts";
import { type Clock, sharedClock, systemClock } from "../values/clock.ts";

export interface RecoveryTimes {
  /** How long a claim outlives its owner's last heartbeat. */
  readonly lease: number;
  /** Between two heartbeats, each with a poll for abandoned work. */
  readonly period: number;
  /** Between two polls for what is due; what this process has scheduled is found without them. */
  readonly duePeriod: number;
}

/** Where others may leave something behind, this process looks more often. */
export function recoveryTimes({ neighbours }: Store): RecoveryTimes {
  if (neighbours === undefined) return { lease: 30_000, period: 10_000, duePeriod: 60_000 };
  const { lease } = neighbours;
  return { lease, period: Math.min(1000, lease / 5), duePeriod: 2000 };
}

/** Nodes whose clocks differ go by that of the store, so that a journal's times are in order whoever writes it. */
export function clockOf({ neighbours }: Store): Clock {
  return neighbours === undefined ? systemClock : sharedClock(() => neighbours.clockOffset);
}
