// Suspends a running execution from outside, at once.
import type { Pause, PauseResult } from "@andante/core/store";
import type { GroupOperation } from "../write/operation.ts";
import { askRecordedWrite, recordedWrite } from "./recorded-write.ts";

export const pause: GroupOperation<Pause, PauseResult> = {
  ask({ executionId, suspension }, _row, facts) {
    askRecordedWrite(executionId, suspension.suspensionId, facts);
    facts.askLastAt(executionId);
  },

  decide(argument, row, facts, changes) {
    if (row === undefined) return { kind: "refused", status: "error" };
    const { executionId } = argument;
    const key = argument.suspension.suspensionId;
    const first = recordedWrite(executionId, key, facts)?.events[0];
    if (first !== undefined) {
      const suspension = { ...argument.suspension, stepIndex: first.stepIndex ?? 0 };
      return { kind: "paused", event: first, suspension };
    }
    if (row.status !== "running") return { kind: "refused", status: row.status };
    const suspension = { ...argument.suspension, stepIndex: row.stepIndex };
    const timestamp = Math.max(argument.event.timestamp, facts.lastAt(executionId));
    const event = { ...argument.event, timestamp, stepIndex: row.stepIndex };
    changes.open(executionId, suspension, true);
    changes.hold(executionId, true);
    changes.append(row, [event], key);
    row.status = "suspended";
    row.paused = true;
    row.openSuspensions = 1;
    changes.row(row);
    return { kind: "paused", event: { ...event, sequence: row.sequence }, suspension };
  },
};
