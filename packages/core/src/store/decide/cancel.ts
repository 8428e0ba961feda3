// Ends an execution from outside, cancelled or out of time: the first of this and the final commit takes effect.
import type { Cancel, CancelResult } from "../store.ts";
import { append } from "./changes.ts";
import type { Decision } from "./decision.ts";
import { announceEnd } from "./links.ts";
import { releaseClaim } from "./record.ts";
import { recordedWrite, requestRecordedWrite } from "./recorded-write.ts";

export const cancel: Decision<Cancel, CancelResult> = {
  request({ executionId, key, due }, record, requests) {
    if (record === undefined) return;
    if (record.endAt !== null) requestRecordedWrite(executionId, key, requests);
    else requests.timeOf(executionId, record.sequence);
    if (due?.suspensionId) requests.openSuspensions([due.suspensionId]);
  },

  decide(argument, record, facts, changes) {
    const { executionId, key, event: given, status, error, due, deliveries = [], note } = argument;
    if (record === undefined) return { kind: "refused", status: "error" };
    if (record.endAt !== null) {
      const first = recordedWrite(executionId, key, facts)?.events[0];
      return first === undefined
        ? { kind: "refused", status: record.status }
        : { kind: "cancelled", event: first };
    }
    if (due !== null && record.paused) return { kind: "refused", status: record.status };
    if (due?.suspensionId && facts.openSuspension(due.suspensionId) === undefined)
      return { kind: "refused", status: record.status };
    const timestamp = Math.max(given.timestamp, facts.timeOf(executionId, record.sequence) ?? 0);
    const event = { ...given, timestamp };
    append(record, [event], key, changes);
    changes.closeAll(executionId);
    changes.clearTimers(executionId);
    record.status = status;
    record.endAt = timestamp;
    record.openSuspensions = 0;
    record.paused = false;
    record.parked = null;
    releaseClaim(record);
    announceEnd(record, changes);
    for (const { row } of deliveries) changes.deliver(row);
    if (note !== undefined) changes.keepWork([note]);
    changes.end(executionId, { result: null, resultAt: null, error });
    changes.update(record);
    return { kind: "cancelled", event: { ...event, sequence: record.sequence } };
  },
};
