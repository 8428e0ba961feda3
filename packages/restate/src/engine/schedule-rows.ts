// The rows of schedules and deliveries, and the members by which their times are found.
import type { ScheduleRow, StoredSchedule } from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { keys, sets, type TimedSchedule } from "./layout.ts";
import { field, optional } from "./lines.ts";
import { memberKey } from "./sets.ts";

export function timed(row: ScheduleRow | null | undefined): TimedSchedule | null {
  return row?.dueAt == null ? null : ["", row.dueAt, row.scheduleId, row.workflowId, row.agentId, row.kind];
}

export function keepRow(cells: Cells, { occurrences, ...kept }: StoredSchedule): void {
  const { kind, scheduleId, workflowId, agentId, userId } = kept;
  const columns = [kind, field(scheduleId), field(workflowId), optional(agentId), optional(userId)];
  cells.set(keys.schedule(scheduleId), kept, ...columns);
  cells.set(keys.occurrences(scheduleId), occurrences);
}

/** Keeps a delivery, unless there is a row of its id. */
export async function keepDelivery(cells: Cells, row: StoredSchedule): Promise<void> {
  if ((await cells.read<ScheduleRow>(keys.schedule(row.scheduleId))) !== undefined) return;
  const member = timed(row);
  if (member !== null) cells.set(memberKey(sets.schedules, member), member);
  keepRow(cells, row);
}
