// A clock for tests: time stands still until it is moved, or jumps over every sleep.
import type { Clock } from "../execution/clock.ts";
import { type Duration, parseDuration } from "../workflow/duration.ts";

export interface TestClockOptions {
  /** Where time begins. Default: now. */
  readonly start?: Date | number;
  /**
   * Jumps to the time that an execution sleeps for as soon as it waits: `andSleep`, `andSleepUntil` and the delays of
   * retries take no time. Timeouts and deadlines are not skipped: move the clock with `advance`. Default: true.
   */
  readonly skipSleeps?: boolean;
}

interface Alarm {
  readonly time: number;
  readonly callback: () => void;
}

/** Give it to `createAndante({ clock })`. */
export class TestClock implements Clock {
  readonly #skipSleeps: boolean;
  readonly #alarms = new Set<Alarm>();
  #now: number;

  constructor(options: TestClockOptions = {}) {
    this.#now = Number(options.start ?? Date.now());
    this.#skipSleeps = options.skipSleeps ?? true;
  }

  now(): number {
    return this.#now;
  }

  at(time: number, kind: "sleep" | "limit", callback: () => void): () => void {
    const alarm = { time, callback };
    this.#alarms.add(alarm);
    if (time <= this.#now || (kind === "sleep" && this.#skipSleeps)) setImmediate(() => this.#ring(alarm));
    return () => this.#alarms.delete(alarm);
  }

  /** Moves the time on; everything that falls due until then happens. */
  advance(duration: Duration): void {
    this.#now += parseDuration(duration, "TestClock.advance");
    const due = [...this.#alarms].filter(({ time }) => time <= this.#now).sort((a, b) => a.time - b.time);
    for (const alarm of due) this.#ring(alarm);
  }

  #ring(alarm: Alarm): void {
    if (!this.#alarms.delete(alarm)) return;
    this.#now = Math.max(this.#now, alarm.time);
    alarm.callback();
  }
}
