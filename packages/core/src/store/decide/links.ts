// The links of an execution: to a parent, children or a schedule, whose end is due until it has been dealt with, and the paths
// of decisions that were made before their steps wait.
import { isEndUnneeded } from "../../schedule/cause.ts";
import { parseObject } from "../../values/fields.ts";
import type { Store } from "../store.ts";
import type { Changes } from "./changes.ts";
import type { Decision } from "./decision.ts";
import type { ExecutionRecord } from "./record.ts";

/** The path of the timer that lists an end as due: no step has it. */
const endPath = "";

/** Called when the record has its end, and after its other timers have gone. */
export function announceEnd(record: ExecutionRecord, changes: Changes): void {
  const { executionId, links, endAt } = record;
  if (links === null || endAt === null) return;
  // Decisions that no step has taken are no relation.
  record.links = withEarlyPaths(links, []);
  if (record.links === null || isEndUnneeded(parsed(record.links))) return;
  record.idle = true;
  changes.setTimer(executionId, { path: endPath, dueAt: endAt });
}

export function withChildren(links: string | null): string {
  return JSON.stringify({ ...parsed(links), children: true });
}

/** The paths of decisions that wait for their steps. */
export function earlyPaths(links: string | null): readonly string[] {
  if (links === null) return [];
  const { early } = parsed(links);
  return Array.isArray(early) ? early.filter((path) => typeof path === "string") : [];
}

/** The links with these paths; null for none. */
export function withEarlyPaths(links: string | null, paths: readonly string[]): string | null {
  const { early: _, ...others } = parsed(links);
  if (paths.length > 0) return JSON.stringify({ ...others, early: paths });
  return Object.keys(others).length === 0 ? null : JSON.stringify(others);
}

function parsed(links: string | null): Readonly<Record<string, unknown>> {
  return links === null ? {} : parseObject(links, "The links of an execution");
}

/** The end of an execution has been dealt with. */
export const endHandled: Decision<Parameters<Store["endHandled"]>[0], void> = {
  decide({ executionId }, record, _facts, changes) {
    if (record === undefined || record.endAt === null) return;
    changes.clearTimers(executionId);
    changes.update(record);
  },
};
