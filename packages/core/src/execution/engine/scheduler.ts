// The scheduler: what falls due is found in the store and done, on time. Nothing that waits is held in memory.
//
// It looks for what falls due first, does what is due, and sets an alarm for the next. It also looks once a minute, so
// what other processes have written is found too.
import { randomUUID } from "node:crypto";
import { ExecutionTimeoutError } from "../../errors/index.ts";
import { executionEvent } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Due } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { afterDeadline } from "../body/deadline.ts";
import type { Engine } from "./engine.ts";

/** Milliseconds between two looks at most. */
const lookPeriod = 60_000;
/** Milliseconds until the next try while the store is in trouble, or while this process is full. */
const shortPause = 100;
const foundAtOnce = 200;

type AlarmKind = Parameters<Clock["at"]>[1];

export class Scheduler {
  readonly #engine: Engine;
  /** The next alarm of each kind. */
  readonly #alarms = new Map<AlarmKind, { readonly at: number; callOff(): void }>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  /** Something earlier than the round under way knows of may have fallen due. */
  #again = false;
  #stopped = false;

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.fallsDue = (at, kind) => this.#setAlarm(at, kind);
  }

  /** Looks at once, then whenever something falls due, until `stop`. */
  start(): void {
    this.#timer = setInterval(() => this.#startRound(), lookPeriod).unref();
    this.#startRound();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const { callOff } of this.#alarms.values()) callOff();
    await this.#round;
  }

  /** The look that is under way; undefined when there is none. */
  get round(): Promise<void> | undefined {
    return this.#round;
  }

  #setAlarm(at: number, kind: AlarmKind): void {
    const known = this.#alarms.get(kind);
    if (this.#stopped || (known !== undefined && known.at <= at)) return;
    known?.callOff();
    const callOff = this.#engine.clock.at(at, kind, () => {
      this.#alarms.delete(kind);
      this.#startRound();
    });
    this.#alarms.set(kind, { at, callOff });
  }

  #startRound(): void {
    if (this.#stopped) return;
    this.#again = this.#round !== undefined;
    this.#round ??= this.#look().finally(() => {
      this.#round = undefined;
      if (this.#again) this.#startRound();
    });
  }

  async #look(): Promise<void> {
    const { clock, logger } = this.#engine;
    try {
      for (const { dueAt, kind } of await this.#doWhatIsDue()) {
        this.#setAlarm(dueAt, kind === "timer" ? "sleep" : "limit");
      }
    } catch (err) {
      logger.warn({ err }, "looking for what falls due failed; trying again");
      this.#setAlarm(clock.now() + shortPause, "sleep");
    }
  }

  /** Does everything that is due and answers what comes next. */
  async #doWhatIsDue(): Promise<readonly Due[]> {
    const { store, workflows, clock } = this.#engine;
    const workflowIds = [...workflows.keys()];
    while (!this.#stopped) {
      const found = await store.due({ workflowIds, limit: foundAtOnce });
      const now = clock.now();
      const due = found.filter(({ dueAt }) => dueAt <= now);
      if (due.length === 0) return found;
      const done = await Promise.all(this.#withinRoom(due).map((one) => this.#perform(one, now)));
      // Full, or refused all over: not in a circle without a pause.
      if (!done.includes(true)) return due.map((one) => ({ ...one, dueAt: now + shortPause }));
    }
    return [];
  }

  /** As many wake-ups as there is room for, one for an execution; the rest needs no room. */
  #withinRoom(due: readonly Due[]): readonly Due[] {
    let { room } = this.#engine;
    const waking = new Set<string>();
    return due.filter(({ kind, executionId }) => {
      if (kind !== "timer") return true;
      if (waking.has(executionId) || room-- <= 0) return false;
      waking.add(executionId);
      return true;
    });
  }

  /** False when somebody else was first, or it failed. */
  async #perform(due: Due, now: number): Promise<boolean> {
    try {
      switch (due.kind) {
        case "timer":
          return await this.#wake(due, now);
        case "deadline":
          return await this.#expire(due, now);
        case "timeout":
          return await this.#timeOut(due, now);
      }
    } catch (err) {
      const { executionId, workflowId, kind } = due;
      this.#engine.logger.error({ err, executionId, workflowId, kind }, "what fell due could not be done");
      return false;
    }
  }

  async #wake({ executionId, workflowId }: Due, now: number): Promise<boolean> {
    const engine = this.#engine;
    const claim = { owner: engine.owner, token: randomUUID() };
    if (!(await engine.store.wake({ executionId, now, claim }))) return false;
    await engine.takeUp(executionId, engine.workflow(workflowId), claim.token);
    return true;
  }

  /** Nobody answered in time. It races a resume for the same row, and only one of them wins. */
  async #expire(due: Extract<Due, { kind: "deadline" }>, now: number): Promise<boolean> {
    const engine = this.#engine;
    const { executionId, suspensionId, path, stepIndex } = due;
    const after = afterDeadline(due.onDeadline);
    if (after === "cancel") {
      const event = executionEvent("workflow-cancelled", now, undefined, {
        reason: "Deadline",
        suspensionId,
      });
      return this.#end(executionId, { event, status: "cancelled", error: null, suspensionId });
    }
    const expired = after === "fail";
    const value = expired ? undefined : JSON.stringify(after.resume);
    const detail = { suspensionId, deadline: true, ...(expired && { expired }) };
    const event = { ...executionEvent("workflow-resumed", now, value, detail), path, stepIndex };
    const claim = { owner: engine.owner, token: randomUUID() };
    const suspensionIds = [suspensionId];
    const resume = { executionId, suspensionIds, rewind: null, events: [event], claim, byDeadline: true };
    const answer = await engine.store.resume(resume);
    if (answer.kind === "refused") return false;
    engine.observation.resumed(due.workflowId);
    const state = await engine.store.state(executionId);
    if (state !== undefined) engine.publish(state.execution, answer.events);
    await engine.goOn(executionId, engine.workflow(due.workflowId), answer, claim.token);
    return true;
  }

  #timeOut({ executionId, workflowId }: Due, now: number): Promise<boolean> {
    const timeout = this.#engine.workflow(workflowId).timeout ?? 0;
    const error = JSON.stringify(toFailure(new ExecutionTimeoutError({ timeout })));
    const event = executionEvent("workflow-error", now, error);
    return this.#end(executionId, { event, status: "error", error, suspensionId: null });
  }

  async #end(
    executionId: string,
    ending: {
      readonly event: ReturnType<typeof executionEvent>;
      readonly status: "cancelled" | "error";
      readonly error: string | null;
      readonly suspensionId: string | null;
    },
  ): Promise<boolean> {
    const { suspensionId, ...rest } = ending;
    const answer = await this.#engine.store.cancel({ executionId, ...rest, due: { suspensionId } });
    if (answer.kind === "refused") return false;
    const state = await this.#engine.store.state(executionId);
    if (state !== undefined)
      await this.#engine.endedOutside(state.execution, answer.event, "The execution's time is over");
    return true;
  }
}
