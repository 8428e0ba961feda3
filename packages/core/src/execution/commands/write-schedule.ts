// Conditional writes of schedules: each is decided again where another writer was first.
import { ScheduleConflictError } from "../../errors/index.ts";
import type { ScheduleRecord } from "../../schedule/schedule-record.ts";
import type { StoredSchedule } from "../../store/schedule-store.ts";
import type { Engine } from "../engine/engine.ts";
import { rowOf } from "./start-occurrence.ts";

export type WriteParts = Pick<Engine, "store" | "clock" | "scheduleWakeup">;

/** Writes that lose against others are decided again so many times. */
export const maxTries = 10;

/** The new record, or undefined to leave the row as it is. */
export type DecideSchedule = (
  stored: StoredSchedule | undefined,
  now: number,
) =>
  | (Pick<StoredSchedule, "workflowId" | "agentId" | "userId"> & { readonly record: ScheduleRecord })
  | undefined;

/** Writes the row that follows from the one that is kept. */
export async function changeSchedule(
  engine: WriteParts,
  scheduleId: string,
  decide: DecideSchedule,
): Promise<StoredSchedule | undefined> {
  const { store, clock } = engine;
  for (let tries = 0; tries < maxTries; tries++) {
    const stored = await store.schedules.read(scheduleId);
    const now = clock.now();
    const decided = decide(stored, now);
    if (decided === undefined) return stored;
    const { record, ...target } = decided;
    const row = rowOf({ ...target, scheduleId }, record, stored?.occurrences ?? "[]", now);
    const change = { scheduleId, expected: stored?.version ?? null, row };
    if ((await store.schedules.change(change)) !== "written") continue;
    wakeUpFor(engine, row);
    return row;
  }
  throw new ScheduleConflictError({ scheduleId, problem: "changes too often" });
}

export function wakeUpFor(
  engine: Pick<WriteParts, "scheduleWakeup">,
  { dueAt }: Pick<StoredSchedule, "dueAt">,
): void {
  if (dueAt !== null) engine.scheduleWakeup(dueAt, "limit");
}
