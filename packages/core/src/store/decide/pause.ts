// Suspends a running execution from outside, at once.
import type { Pause, PauseResult } from "../store.ts";
import { append } from "./changes.ts";
import type { Decision } from "./decision.ts";
import { recordedWrite, requestRecordedWrite } from "./recorded-write.ts";

export const pause: Decision<Pause, PauseResult> = {
  request({ executionId, suspension }, record, requests) {
    if (record === undefined) return;
    requestRecordedWrite(executionId, suspension.suspensionId, requests);
    requests.timeOf(executionId, record.sequence);
  },

  decide(argument, record, facts, changes) {
    if (record === undefined) return { kind: "refused", status: "error" };
    const { executionId } = argument;
    const key = argument.suspension.suspensionId;
    const first = recordedWrite(executionId, key, facts)?.events[0];
    if (first !== undefined) {
      const suspension = { ...argument.suspension, stepIndex: first.stepIndex ?? 0 };
      return { kind: "paused", event: first, suspension };
    }
    if (record.status !== "running") return { kind: "refused", status: record.status };
    const { stepIndex } = record;
    const suspension = { ...argument.suspension, stepIndex };
    const lastAt = facts.timeOf(executionId, record.sequence) ?? 0;
    const event = { ...argument.event, timestamp: Math.max(argument.event.timestamp, lastAt), stepIndex };
    changes.open(executionId, suspension, true);
    changes.hold(executionId, true);
    append(record, [event], key, changes);
    record.status = "suspended";
    record.paused = true;
    record.openSuspensions = 1;
    changes.update(record);
    return { kind: "paused", event: { ...event, sequence: record.sequence }, suspension };
  },
};
