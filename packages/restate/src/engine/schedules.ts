// Schedules and deliveries in the state of shards. The id of an execution that a schedule starts leads to the shard of the schedule (layout.ts), so
// that both are one write. `sc/` is the row, `so/` has its last occurrences, and the set `h` finds it by its time.
import {
  type ChangeSchedule,
  type ChangeScheduleResult,
  type DueQuery,
  type DueTimer,
  decideSchedule,
  type NewExecution,
  type ScheduleRow,
  type StoredSchedule,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { create } from "./executions.ts";
import { keys, sets, type TimedSchedule } from "./layout.ts";
import { columnsOf } from "./lines.ts";
import { keepRow, timed } from "./schedule-rows.ts";
import { find, memberKey } from "./sets.ts";

export const scheduleColumns = columnsOf("kind scheduleId workflowId agentId userId whole");

/** Milliseconds after its time for which a member counts without its row, as with timers. */
const trustTime = 10_000;

async function changeSchedule(
  cells: Cells,
  change: ChangeSchedule<NewExecution>,
): Promise<ChangeScheduleResult> {
  const { scheduleId, row, create: execution } = change;
  const before = await cells.read<ScheduleRow>(keys.schedule(scheduleId));
  const decided = decideSchedule(change, before?.version);
  if (decided !== "write") return decided;
  // Before the row: a call that is killed half-way leaves an execution that the next call finds.
  if (execution !== undefined && !(await create(cells, execution)).created) return "exists";
  const [old, member] = [timed(before), timed(row)];
  if (old !== null && JSON.stringify(old) !== JSON.stringify(member))
    cells.clear(memberKey(sets.schedules, old));
  if (member !== null) cells.set(memberKey(sets.schedules, member), member);
  if (row === null) {
    cells.clear(keys.schedule(scheduleId));
    cells.clear(keys.occurrences(scheduleId));
    return "written";
  }
  keepRow(cells, row);
  return "written";
}

async function schedule(cells: Cells, scheduleId: string): Promise<StoredSchedule | undefined> {
  await cells.load([keys.schedule(scheduleId), keys.occurrences(scheduleId)]);
  const row = cells.get<ScheduleRow>(keys.schedule(scheduleId));
  return row && { ...row, occurrences: cells.get<string>(keys.occurrences(scheduleId)) ?? "[]" };
}

/** The first times of schedules. */
export async function dueSchedules(
  cells: Cells,
  { workflowIds, agentIds = [], after, limit }: DueQuery,
  now: number,
): Promise<DueTimer[]> {
  const fits = ([, , , workflowId, agentId]: TimedSchedule) =>
    agentId === null ? workflowIds.includes(workflowId) : agentIds.includes(agentId);
  const found = await find<TimedSchedule>(cells, sets.schedules, { fits, after, limit });
  const old = found.filter(([, dueAt]) => dueAt < now - trustTime).map(([, , id]) => keys.schedule(id));
  await cells.load(old);
  return found.flatMap(([, dueAt, executionId, workflowId, , kind]): DueTimer[] => {
    const key = keys.schedule(executionId);
    if (old.includes(key) && cells.get<ScheduleRow>(key)?.dueAt !== dueAt) return [];
    return [{ kind: kind === "delivery" ? kind : "schedule", executionId, workflowId, dueAt }];
  });
}

export const scheduleReads = { schedule };
export const scheduleWrites = { changeSchedule };
