// A write that waits in its lane, and the result of its caller.
import type { GroupItem } from "./item.ts";

export interface Waiting extends GroupItem {
  /** Its caller was refused because the store is not available. */
  refused: boolean;
  timer?: NodeJS.Timeout;
  /** Another client keeps its row locked, known since this time: it is tried alone. */
  lockedSince?: number;
}

/** Milliseconds that callers who can come again wait for a row that is locked, or for an outcome that is not known. */
const patience = 5_000;

/** Its outcome is not known: its caller is refused, now or by its timer, and the write is tried again. */
function mayBeWritten({ timer, refused }: Waiting): boolean {
  return timer !== undefined || refused;
}

/** Nothing of it is written, and its caller can come again. */
export function canComeAgain(item: Waiting): boolean {
  return item.isIntake && !mayBeWritten(item);
}

/** Its caller can come again, and has waited long for a row that is locked. */
export function isLate(item: Waiting, now: number): boolean {
  const since = item.lockedSince ?? now;
  return canComeAgain(item) && now - since > patience;
}

/** It may have been written: it is repeated until that is known, but its caller does not wait for ever. */
export function refuseLater(item: Waiting, error: () => Error): void {
  if (!item.isIntake || item.timer !== undefined) return;
  item.timer = setTimeout(() => {
    item.refused = true;
    item.reject(error());
  }, patience);
}

export function refuse(item: Waiting, error: Error): void {
  clearTimeout(item.timer);
  if (!item.refused) item.reject(error);
}
