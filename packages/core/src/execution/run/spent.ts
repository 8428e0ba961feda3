// The usage of a commit by day, user, agent, workflow and model: derived from the calls that it records.
import type { NewEvent } from "../../journal/events.ts";
import { dayOf, mergeEntries, type UsageEntry, type UsageKey, usageEntry } from "../../store/usage-store.ts";

/** Whose calls they are. */
export interface Spender {
  readonly userId: string | null;
  /** "" for a turn. */
  readonly workflowId: string;
}

/** Undefined for no calls. */
export function spentIn(events: readonly NewEvent[], spender: Spender): readonly UsageEntry[] | undefined {
  let entries: UsageEntry[] | undefined;
  for (const event of events) {
    if (event.type !== "checkpoint-complete" || event.usage === undefined) continue;
    const { call, usage, timestamp } = event;
    const agentId = call !== undefined && "agentId" in call ? call.agentId : undefined;
    const model = call?.kind === "model" ? call.model : undefined;
    entries ??= [];
    entries.push(usageEntry(keyOf(timestamp, spender, agentId, model), usage));
  }
  return entries && mergeEntries(entries);
}

export function keyOf(at: number, { userId, workflowId }: Spender, agentId = "", model = ""): UsageKey {
  return { day: dayOf(at), userId: userId ?? "", agentId, workflowId, model };
}
