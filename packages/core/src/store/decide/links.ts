// The end of an execution that has a parent or children: it is due until they have been dealt with.
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
  record.idle = true;
  changes.setTimer(executionId, { path: endPath, dueAt: endAt });
}

export function withChildren(links: string | null): string {
  return JSON.stringify({
    ...(links !== null && parseObject(links, "The links of an execution")),
    children: true,
  });
}

/** The end of an execution has been dealt with. */
export const endHandled: Decision<Parameters<Store["endHandled"]>[0], void> = {
  decide({ executionId }, record, _facts, changes) {
    if (record === undefined || record.endAt === null) return;
    changes.clearTimers(executionId);
    changes.update(record);
  },
};
