// Processes a due timer: wakes an execution, ends a suspension at its deadline, ends the execution, fires a schedule, takes an
// event, or sends a delivery.
import { randomUUID } from "node:crypto";
import { ExecutionTimeoutError } from "../../errors/index.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { EndEvent, WorkflowCancelledEvent, WorkflowResumedEvent } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Cancel, DueTimer } from "../../store/store.ts";
import { afterDeadline } from "../../store/suspension.ts";
import { endingOf } from "../run/settlement.ts";
import { endedOutside } from "./ended-outside.ts";
import type { Engine } from "./engine.ts";
import type { EngineKind } from "./engine-kind.ts";
import { type ProcessEndParts, processEnd } from "./process-end.ts";
import type { Recovery } from "./recovery.ts";
import type { DueTimerProcessor, Processed } from "./scheduler.ts";
import { writeCancel } from "./write-cancel.ts";
import { writeResume } from "./write-resume.ts";

/** The parts of the engine that due timers are processed with. */
type TimerParts = ProcessEndParts & Pick<Engine, "workflow" | "room" | "events" | "deliveries">;

/** Processes the due timers that the scheduler finds. */
export function dueTimerProcessor(
  engine: TimerParts,
  recovery: Pick<Recovery, "loadNow">,
): DueTimerProcessor {
  const { admission } = engine;
  return {
    get room() {
      return engine.room;
    },
    get roomForLimits() {
      return engine.closing ? 0 : admission.slots.roomForLimits;
    },
    takesSlot: (timer) => kindOf(engine, timer).takesSlot,
    usersOverShare: () => admission.slots.usersOverShare(),
    keepFor: (count) => admission.keepFor(count),
    process: (timer, now) => processDueTimer(engine, timer, now),
    wakeBefore: (timer, limit, now) => wakeBefore(engine, recovery, timer, limit, now),
    roundEnded: () => engine.closing || admission.runWaiting(),
  };
}

async function processDueTimer(engine: TimerParts, timer: DueTimer, now: number): Promise<Processed> {
  if (timer.kind === "deadline" || timer.kind === "timeout") {
    engine.admission.hurry(timer.executionId);
    const driver = await engine.driver(timer.executionId);
    if (driver?.holds(timer.dueAt)) return "held";
  }
  return process(engine, timer, now);
}

/**
 * Wakes an execution in which something else is due later. One that a process has left behind is recovered; where that
 * fails, the later timer is processed without it.
 */
async function wakeBefore(
  engine: TimerParts,
  recovery: Pick<Recovery, "loadNow">,
  timer: DueTimer,
  limit: DueTimer,
  now: number,
): Promise<Processed> {
  if (await wake(engine, timer, now)) return "done";
  const loaded = await recovery.loadNow(timer.executionId);
  return loaded === "failed" ? processDueTimer(engine, limit, now) : loaded;
}

async function process(engine: TimerParts, timer: DueTimer, now: number): Promise<Processed> {
  switch (timer.kind) {
    case "timer":
      return doneIf(await wake(engine, timer, now));
    case "deadline":
      return doneIf(await expire(engine, timer, now));
    case "timeout":
      return doneIf(await timeOut(engine, timer, now));
    case "end":
      return processEnd(engine, timer);
    case "delivery":
      return (await engine.deliveries?.deliver(timer.executionId)) ?? "later";
    case "schedule":
      return (await engine.schedules?.fire(timer.executionId)) ?? "later";
    case "signal":
      return (await engine.events?.process(timer.executionId)) ?? "later";
  }
}

/** Otherwise another caller or process was first. */
function doneIf(isDone: boolean): Processed {
  return isDone ? "done" : "refused";
}

/** A turn of a chat has no workflow. */
function kindOf(engine: Pick<TimerParts, "kind">, { workflowId }: DueTimer): EngineKind {
  return engine.kind(workflowId === "" ? "turn" : "workflow");
}

async function wake(engine: TimerParts, timer: DueTimer, now: number): Promise<boolean> {
  const { executionId } = timer;
  const kind = kindOf(engine, timer);
  const claim = { owner: engine.claims.taker, token: randomUUID() };
  return engine.claims.during(claim.token, async () => {
    // The slot counts as taken from now on; once the execution is being loaded, that counts.
    const giveBack = engine.admission.slots.reserve(kind.takesSlot ? 1 : 0);
    try {
      if (!(await engine.store.wake({ executionId, now, claim }))) return false;
      const loading = engine.load({ executionId, kind, claim });
      giveBack();
      await loading;
      return true;
    } finally {
      giveBack();
    }
  });
}

/** The suspension was not resumed in time. The write races a resume for the same row, and only one of them wins. */
async function expire(
  engine: TimerParts,
  timer: Extract<DueTimer, { kind: "deadline" }>,
  now: number,
): Promise<boolean> {
  const { executionId, suspensionId, path, stepIndex } = timer;
  // Read before anything is written: a read that failed afterwards would leave it claimed and not running.
  const state = await engine.store.state(executionId);
  const suspension = state?.suspensions.find((open) => open.suspensionId === suspensionId);
  if (state === undefined || suspension === undefined) return false;
  const ended = await engine.kind(state.execution.kind).expire?.(state, suspension);
  if (typeof ended === "boolean") return ended;
  const after = ended ?? afterDeadline(suspension.onDeadline);
  if (after === "cancel") {
    const event: WorkflowCancelledEvent = {
      type: "workflow-cancelled",
      timestamp: now,
      reason: "Deadline",
      userId: undefined,
      suspensionId,
    };
    const cancel = { key: randomUUID(), status: "cancelled", error: null, due: { suspensionId } } as const;
    return end(engine, { executionId, ...cancel }, event);
  }
  const expired = after === "fail";
  const event: WorkflowResumedEvent = {
    type: "workflow-resumed",
    timestamp: now,
    path,
    stepIndex,
    suspensionId,
    resumeData: expired ? undefined : JSON.stringify(after.resume),
    userId: undefined,
    byDeadline: true,
    expired,
  };
  const claim = { owner: engine.claims.taker, token: randomUUID() };
  const closes = { suspensionIds: [suspensionId], rewind: null };
  const resume = { executionId, ...closes, events: [encodeEvent(event)], claim, byDeadline: true };
  return writeResume(engine, { resume, state, dueAt: timer.dueAt });
}

async function timeOut(
  engine: TimerParts,
  { executionId, workflowId }: DueTimer,
  now: number,
): Promise<boolean> {
  const timeout = engine.workflow(workflowId).timeout ?? (await ownTimeout(engine, executionId));
  const error = toFailure(new ExecutionTimeoutError({ timeout }));
  const { event, end: ending } = endingOf({ kind: "error", error }, now);
  const how = { status: "error", error: ending.error, due: { suspensionId: null } } as const;
  return end(engine, { executionId, key: randomUUID(), ...how }, event);
}

/** Milliseconds that the start of the execution has allowed it. */
async function ownTimeout({ store }: Pick<TimerParts, "store">, executionId: string): Promise<number> {
  const { startAt = 0, timeoutAt = null } = (await store.state(executionId))?.execution ?? {};
  return timeoutAt === null ? 0 : timeoutAt - startAt;
}

async function end(engine: TimerParts, cancel: Omit<Cancel, "event">, event: EndEvent): Promise<boolean> {
  const state = await engine.store.state(cancel.executionId);
  if (state === undefined) return false;
  const { executionId: _, ...how } = cancel;
  const result = await writeCancel(engine, state.execution, { ...how, event: encodeEvent(event) });
  if (result.kind === "refused") return false;
  // The store assigns the number. Only this event has the stack of the failure: the journal does not keep it.
  const { sequence, timestamp } = result.event;
  const reason = cancel.status === "error" ? "The execution timed out" : "A deadline cancelled the execution";
  await endedOutside(engine, state.execution, { ...event, sequence, timestamp }, reason);
  return true;
}
