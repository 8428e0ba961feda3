// A pause, resume or cancel that is repeated because its result was lost: finds what was written the first time.

import { readWholeRow, type StoredEvent } from "@andante/core/store";
import type { Facts } from "../write/facts.ts";

/** The key of a resume that a live owner continues with. */
export function ownedKey(key: string): string {
  return `${key}.owned`;
}

export function askRecordedWrite(executionId: string, key: string, facts: Facts): void {
  facts.askRecorded(executionId, [key, ownedKey(key)]);
}

/** `owned`: the key says that a live owner continues it. */
export function recordedWrite(
  executionId: string,
  key: string,
  facts: Facts,
): { events: StoredEvent[]; owned: boolean } | undefined {
  const found = facts.recorded(executionId);
  if (found === undefined) return undefined;
  return { events: readWholeRow(found.sequence, found.events), owned: found.key !== key };
}
