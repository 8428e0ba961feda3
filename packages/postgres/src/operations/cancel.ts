// Ends an execution from outside, cancelled or out of time: the first of this and the final commit wins.
import type { Cancel, CancelResult } from "@andante/core/store";
import type { GroupOperation } from "../write/operation.ts";
import { askRecordedWrite, recordedWrite } from "./recorded-write.ts";

export const cancel: GroupOperation<Cancel, CancelResult> = {
  ask({ executionId, key, due }, row, facts) {
    if (row === undefined) return;
    if (row.endAt !== null) askRecordedWrite(executionId, key, facts);
    else facts.askLastAt(executionId);
    if (due?.suspensionId) facts.askOpen([due.suspensionId]);
  },

  decide({ executionId, key, event: given, status, error, due }, row, facts, changes) {
    if (row === undefined) return { kind: "refused", status: "error" };
    if (row.endAt !== null) {
      const first = recordedWrite(executionId, key, facts)?.events[0];
      return first === undefined
        ? { kind: "refused", status: row.status }
        : { kind: "cancelled", event: first };
    }
    if (due !== null && row.paused) return { kind: "refused", status: row.status };
    if (due?.suspensionId && facts.openSuspension(due.suspensionId) === undefined)
      return { kind: "refused", status: row.status };
    const timestamp = Math.max(given.timestamp, facts.lastAt(executionId));
    const event = { ...given, timestamp };
    changes.append(row, [event], key);
    changes.closeAll(executionId);
    changes.clearTimers(executionId);
    row.status = status;
    row.endAt = timestamp;
    row.openSuspensions = 0;
    row.paused = false;
    row.owner = null;
    row.token = null;
    row.parked = null;
    changes.row(row);
    changes.end(executionId, { result: null, resultAt: null, error });
    return { kind: "cancelled", event: { ...event, sequence: row.sequence } };
  },
};
