// A clock for tests: time stands still until it is moved, or jumps over every sleep.
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";
import type { Clock } from "../values/clock.ts";
import { type Duration, parseDuration } from "../values/duration.ts";

export interface TestClockOptions {
  /** Where time begins. Default: now. */
  readonly start?: Date | number;
  /**
   * Jumps to the time that an execution sleeps for as soon as it waits: `andSleep`, `andSleepUntil` and the delays of
   * retries take no time. Timeouts and deadlines are not skipped: move the clock with `advance`. But timers on the way
   * of a jump fire, in their order: a sleep of an hour passes a deadline of ten minutes. Default: true.
   */
  readonly skipSleeps?: boolean;
}

const knownOptions: KnownOptions<TestClockOptions> = { start: true, skipSleeps: true };

interface Alarm {
  readonly time: number;
  readonly callback: () => void;
}

/**
 * Pass it to `createAndante({ clock })`. Moving it starts due timers; `await andante.settled()` waits until that is
 * done.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createAndante, createWorkflow, memoryStore } from "@andante/core";
 * import { TestClock } from "@andante/core/test";
 * import { z } from "zod";
 *
 * const remind = createWorkflow({ id: "remind", input: z.object({ to: z.string() }) })
 *   .andSleep({ id: "wait", duration: "2h" });
 * const clock = new TestClock({ skipSleeps: false });
 * const andante = createAndante({ workflows: { remind }, store: memoryStore(), clock });
 * const { executionId } = await andante.start("remind", { to: "Ada" });
 * clock.advance("2h");
 * await andante.settled();
 * assert.equal((await andante.state("remind", executionId)).status, "completed");
 * ```
 */
export class TestClock implements Clock {
  readonly #skipSleeps: boolean;
  readonly #alarms = new Set<Alarm>();
  #now: number;

  constructor(options: TestClockOptions = {}) {
    checkKnownOptions("TestClock", options, knownOptions);
    this.#now = Number(options.start ?? Date.now());
    this.#skipSleeps = options.skipSleeps ?? true;
  }

  now(): number {
    return this.#now;
  }

  at(time: number, kind: "sleep" | "limit", callback: () => void): () => void {
    const alarm = { time, callback };
    this.#alarms.add(alarm);
    if (time <= this.#now || (kind === "sleep" && this.#skipSleeps)) setImmediate(() => this.#jump(alarm));
    return () => this.#alarms.delete(alarm);
  }

  /**
   * Advances the time; everything that falls due until then begins, in its order. A wait that starts after that counts
   * from the new time.
   */
  advance(duration: Duration): void {
    this.#moveTo(this.#now + parseDuration(duration, "TestClock.advance"));
  }

  /** Advances the time to a date; one that has passed changes nothing. */
  advanceTo(date: Date | number): void {
    this.#moveTo(Number(date));
  }

  /**
   * Advances the time from one alarm to the next, and waits after each until its work is done: so schedules fire at each of
   * their times.
   */
  async run(duration: Duration, andante: { settled(): Promise<void> }): Promise<void> {
    const end = this.#now + parseDuration(duration, "TestClock.run");
    for (;;) {
      await andante.settled();
      const next = this.#firstUntil(end);
      if (next === undefined) break;
      this.#moveTo(next.time);
    }
    this.#moveTo(end);
  }

  #jump(alarm: Alarm): void {
    if (this.#alarms.has(alarm)) this.#moveTo(alarm.time);
  }

  /** One alarm at a time: an alarm that one of them sets may be the next that is due. */
  #moveTo(time: number): void {
    for (let alarm = this.#firstUntil(time); alarm !== undefined; alarm = this.#firstUntil(time)) {
      this.#alarms.delete(alarm);
      this.#now = Math.max(this.#now, alarm.time);
      alarm.callback();
    }
    this.#now = Math.max(this.#now, time);
  }

  #firstUntil(time: number): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.time <= time && (first === undefined || alarm.time < first.time)) first = alarm;
    }
    return first;
  }
}
