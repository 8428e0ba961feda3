// A pause, resume or cancel that is repeated because its result was lost: finds the events of the first one.
import { readWholeRow } from "../sql/journal-row.ts";
import type { StoredEvent } from "../stored-event.ts";
import type { FactRequests, Facts } from "./facts.ts";

/** The key of a resume that a live owner continues with. */
export function ownedKey(key: string): string {
  return `${key}.owned`;
}

export function requestRecordedWrite(executionId: string, key: string, requests: FactRequests): void {
  requests.recorded(executionId, [key, ownedKey(key)]);
}

/** `owned`: a live owner continues the execution. */
export function recordedWrite(
  executionId: string,
  key: string,
  facts: Facts,
): { readonly events: readonly StoredEvent[]; readonly owned: boolean } | undefined {
  const found = facts.recorded(executionId, [key, ownedKey(key)]);
  if (found === undefined) return undefined;
  return { events: readWholeRow(found.sequence, found.events), owned: found.key !== key };
}
