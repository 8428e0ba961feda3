// Takes over executions that have work to do and no live owner.
import type { Claim } from "../store.ts";
import { type ExecutionRecord, giveClaim } from "./record.ts";

/** Whether a process that looks for work may claim it. `isAlive`: the lease of its owner lasts. */
export function isAbandoned(record: ExecutionRecord, isAlive: boolean): boolean {
  const hasWork = !record.idle && record.endAt === null && record.parked === null;
  return hasWork && (record.token === null || !isAlive);
}

/** Gives it to a new owner. A claim that was released, or whose owner never had a heartbeat, is not a crash. */
export function takeOver(record: ExecutionRecord, claim: Claim, hadHeartbeat: boolean): void {
  if (record.token !== null && hadHeartbeat) record.recoveries += 1;
  giveClaim(record, claim);
}
