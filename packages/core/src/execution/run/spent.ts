// The usage of a commit by day, user, agent, workflow and model: derived from the calls that it records.
import { holdOf } from "../../agent/durable/budget-waits.ts";
import type { NewEvent } from "../../journal/events.ts";
import type { Budgets } from "../../observe/usage/budgets.ts";
import type { BudgetCharge } from "../../store/budget-store.ts";
import { dayOf, mergeEntries, type UsageEntry, type UsageKey, usageEntry } from "../../store/usage-store.ts";

/** Whose calls they are. */
export interface Spender {
  readonly userId: string | null;
  /** "" for a turn. */
  readonly workflowId: string;
  readonly tags?: readonly string[];
  /** Undefined where the host has none. */
  readonly budgets?: Pick<Budgets, "charges"> | undefined;
}

/** The use of those calls in place of the shares of budgets that they hold; undefined for none. */
export function chargesIn(
  events: readonly NewEvent[],
  executionId: string,
  { userId, tags = [], budgets }: Spender,
): readonly BudgetCharge[] | undefined {
  if (budgets === undefined) return undefined;
  const charges = events.flatMap((event) => {
    if (event.type !== "checkpoint-complete" || event.usage === undefined || event.call?.kind !== "model")
      return [];
    const { path, call, usage, timestamp: at } = event;
    const { agentId = "" } = call;
    return budgets.charges({ userId, tags, agentId, hold: holdOf(executionId, path), usage, at });
  });
  return charges.length === 0 ? undefined : charges;
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
