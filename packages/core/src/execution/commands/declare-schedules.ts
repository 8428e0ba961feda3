// The schedules in the code of this process, kept as rows.
import { changedRecord, isSame } from "../../schedule/changed-record.ts";
import type { ScheduleSpec } from "../../schedule/schedule-options.ts";
import { readRecord, type ScheduleRecord } from "../../schedule/schedule-record.ts";
import type { ScheduleRow } from "../../store/schedule-store.ts";
import { clockTolerance } from "../../values/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { declaredById, ownerId, type ScheduleOwner, setIdOf } from "./schedule-owners.ts";
import { changeSchedule, type DecideSchedule, type WriteParts } from "./write-schedule.ts";

/** Rows that are read together. */
const maxPage = 200;

/** Keeps the schedules of an owner as this process declares them, and marks the others of its code as removed. */
export async function declareSchedules(engine: WriteParts, owner: ScheduleOwner): Promise<void> {
  const declared = declaredById(owner);
  const left = new Map(declared);
  /** The row as the code declares it; undefined where `stored`, which was read with its page or alone, is right. */
  const decide = (scheduleId: string, stored: ScheduleRow | undefined, now: number) => {
    const schedule = declared.get(scheduleId);
    return schedule === undefined
      ? stored && removedRow(stored, now)
      : declaredRow(owner, schedule.spec, schedule.userId ?? null, stored, now);
  };
  const keep = (scheduleId: string) =>
    changeSchedule(engine, scheduleId, (stored, now) => decide(scheduleId, stored, now));
  for await (const rows of pagesOfCode(engine, owner)) {
    const now = engine.clock.now();
    const changed = rows.filter((row) => decide(row.scheduleId, row, now) !== undefined);
    await Promise.all(changed.map(({ scheduleId }) => keep(scheduleId)));
    for (const { scheduleId } of rows) left.delete(scheduleId);
  }
  const missing = [...left.keys()];
  while (missing.length > 0) await Promise.all(missing.splice(0, maxPage).map(keep));
}

/** The rows that the code of an owner has declared: they are together, because the ids of callers have no colon. */
async function* pagesOfCode(
  { store }: Pick<WriteParts, "store">,
  owner: ScheduleOwner,
): AsyncGenerator<readonly ScheduleRow[]> {
  const { workflowId, agentId } = owner;
  const prefix = `${ownerId(owner)}:`;
  const query = {
    kind: "schedule",
    limit: maxPage,
    ...(agentId === null ? { workflowId } : { agentId }),
  } as const;
  for (let after: string | undefined = prefix; after !== undefined; ) {
    const rows: readonly ScheduleRow[] = await store.schedules.list({ ...query, after });
    const own = rows.filter(({ scheduleId }) => scheduleId.startsWith(prefix));
    yield own;
    after = own.length === rows.length ? rows.at(-1)?.scheduleId : undefined;
  }
}

/** Undefined for one that is removed already, or is not of the code. */
function removedRow(stored: ScheduleRow, now: number): ReturnType<DecideSchedule> {
  const before = readRecord(stored.body);
  if (before.origin !== "code" || before.state === "removed") return undefined;
  const note = "The code declares it no more";
  return { ...stored, record: { ...before, state: "removed", note, waiting: [], cursorAt: now } };
}

function declaredRow(
  { workflowId, agentId, hash: set }: ScheduleOwner,
  spec: ScheduleSpec,
  userId: string | null,
  stored: ScheduleRow | undefined,
  now: number,
): ReturnType<DecideSchedule> {
  const before = stored && readRecord(stored.body);
  const given = { ...spec, origin: "code", input: null, conversationId: null, context: "{}" } as const;
  const row = { workflowId, agentId, userId };
  const isSameRow = stored?.userId === userId && setIdOf(stored) === setIdOf(row);
  if (before !== undefined && isSameRow && isSame(before, { ...before, ...given })) {
    // Another set with the same schedule in it.
    const record = { ...before, set, cursorAt: cursorBy(now, before) };
    return before.set === set && before.cursorAt === record.cursorAt ? undefined : { ...row, record };
  }
  return { ...row, record: changedRecord(before, { ...given, set }, now) };
}

/** After a clock that was set back an occurrence that has run is found by the id of its execution. */
function cursorBy(now: number, { cursorAt }: Pick<ScheduleRecord, "cursorAt">): number {
  return cursorAt > now + clockTolerance ? now : cursorAt;
}

/** Lets the schedules whose last occurrence is in the future, because the clock was set back, go on from now. */
export async function correctCursors(engine: WriteParts & Pick<Engine, "logger">): Promise<void> {
  const { store, clock, logger } = engine;
  let corrected = 0;
  for (let after: string | undefined = ""; after !== undefined; ) {
    const rows: readonly ScheduleRow[] = await store.schedules.list({
      kind: "schedule",
      after,
      limit: maxPage,
    });
    for (const { scheduleId, body } of rows) {
      const isAhead = cursorBy(clock.now(), readRecord(body)) !== readRecord(body).cursorAt;
      if (!isAhead) continue;
      await changeSchedule(engine, scheduleId, (stored, now) => {
        const before = stored && readRecord(stored.body);
        return stored && before && { ...stored, record: { ...before, cursorAt: cursorBy(now, before) } };
      });
      corrected += 1;
    }
    after = rows.at(-1)?.scheduleId;
  }
  if (corrected > 0)
    logger.warn({ schedules: corrected }, "the clock was set back: schedules go on from now");
}
