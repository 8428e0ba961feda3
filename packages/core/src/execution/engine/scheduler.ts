// The scheduler: finds due timers in the store and has them processed on time. Nothing that waits is held in memory.
//
// It polls for the earliest timers, processes those that are due, and sets an alarm for the next. It also polls on a period, so
// that timers written by other processes are found too. An execution that takes long, because another client of the
// database keeps its row locked, is left to itself: timers of other executions do not wait for it. While more are due than a
// round takes, a round takes the earliest and those that have fallen due since the last round in turn: a backlog does not delay
// timers that come after it.
import type { Logger } from "../../observe/log/logger.ts";
import type { DueTimer, Store } from "../../store/store.ts";
import { type Clock, clockTolerance } from "../../values/clock.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import type { StorageWatch } from "./storage-watch.ts";

export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Only executions of these workflows. */
  readonly workflowIds: readonly string[];
  /** Also deadlines of turns of these agents. */
  readonly agentIds: readonly string[];
  /** Also work that events leave. Default: none. */
  readonly signals?: boolean;
  /** At most this many milliseconds between two polls. */
  readonly period: number;
  /** Called when the clock is more than a minute behind an earlier poll. Default: nothing. */
  readonly clockSetBack?: () => void;
  /** Logs failures of the storage. */
  readonly storage: Pick<StorageWatch, "failed">;
}

/**
 * The result of processing a due timer. `refused`: another caller or process was first. `held`: something that fell due
 * earlier in the same execution comes first; its process schedules this again. `later`: it cannot be processed yet.
 */
export type Processed = "done" | "refused" | "held" | "later";

/** Processes due timers. */
export interface DueTimerProcessor {
  /** How many executions it may wake now. */
  readonly room: number;
  /** How many of those that have to wake before a deadline or a timeout. */
  readonly roomForLimits: number;
  /** Whether waking its execution needs a slot. */
  takesSlot(timer: DueTimer): boolean;
  /** The users whose executions are not woken now, because they run their share already and others wait. */
  usersOverShare(): ReadonlySet<string | null>;
  /** Keeps up to so many free slots; the returned function gives them back. */
  keepFor(count: number): () => void;
  process(timer: DueTimer, now: number): Promise<Processed>;
  /** Processes a timer that comes before a deadline or a timeout of the same execution. */
  wakeBefore(timer: DueTimer, limit: DueTimer, now: number): Promise<Processed>;
  /** Called at the end of a round: slots that it did not need are free. */
  roundEnded(): void;
}

/** Milliseconds until the next try while the store is in trouble, or while this process is full. */
const shortPause = 100;
/** Between the time of a timer that falls due at once, such as that of a delivery, and the end of its write. */
const lateWrite = 100;
const foundAtOnce = 200;
/** Milliseconds until the next attempt at a timer that cannot be processed, doubled with each, and how many such are remembered. */
const firstPause = 1000;
const longestPause = 60_000;
const maxFailed = 1000;
/** Milliseconds that a round waits for its timers, and how many executions it leaves to themselves after that. */
const roundPatience = 200;
const maxLeft = 1000;

interface DueWork {
  readonly timer: DueTimer;
  /** The deadline or timeout of the same execution that the timer comes before. */
  readonly before?: DueTimer;
}

type AlarmKind = Parameters<Clock["at"]>[1];

export class Scheduler {
  readonly #options: SchedulerOptions;
  /** Undefined before the start and after the stop. */
  #processor: DueTimerProcessor | undefined;
  /** The next alarm of each kind. */
  readonly #alarms = new Map<AlarmKind, { readonly at: number; cancel(): void }>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  /** Something earlier than the current round knows of may have fallen due. */
  #again = false;
  /** The time of the last poll. */
  #polledAt = 0;
  /** Those that fall due after this time pass a backlog; the first of them that has found no slot is one. */
  #passAfter = 0;
  /** How many due executions were left because this process was full. */
  #waiting = 0;
  /** Gives back the slots that are kept for the current round. */
  #giveBack: () => void = () => undefined;
  /** Executions and schedules in which something due could not be processed, with the time of the next try. */
  readonly #failed = new Map<
    string,
    { readonly until: number; readonly pause: number; readonly isEarly: boolean }
  >();
  /** The timers being processed, by their executions. */
  readonly #underWay = new Map<string, Promise<Processed>>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Polls at once, then whenever something falls due, until `stop`. */
  start(processor: DueTimerProcessor): void {
    this.#processor = processor;
    this.#timer = setInterval(() => this.#startRound(), this.#options.period).unref();
    this.#startRound();
  }

  async stop(): Promise<void> {
    this.#processor = undefined;
    clearInterval(this.#timer);
    for (const { cancel } of this.#alarms.values()) cancel();
    await Promise.all([this.#round, ...this.#underWay.values()]);
  }

  /** The current round, or the timers that a round has left to themselves; undefined when there is neither. */
  get round(): Promise<unknown> | undefined {
    return this.#round ?? (this.#underWay.size === 0 ? undefined : Promise.race(this.#underWay.values()));
  }

  /** An execution has left this process: timers that found no slot may find one now. */
  roomFreed(): void {
    if (this.#waiting === 0 || this.#processor === undefined) return;
    this.#giveBack = this.#processor.keepFor(this.#waiting);
    this.#waiting = 0;
    this.#startRound();
  }

  /** Others have left something behind, or an execution has come so far that one which was too early may be processed. */
  look(): void {
    for (const [subject, { isEarly }] of this.#failed) if (isEarly) this.#failed.delete(subject);
    this.#startRound();
  }

  /** Something in the store falls due at this time. */
  schedule(at: number, kind: AlarmKind): void {
    const known = this.#alarms.get(kind);
    // The first round finds everything that is due before the start.
    if (this.#processor === undefined || (known !== undefined && known.at <= at)) return;
    known?.cancel();
    const cancel = this.#options.clock.at(at, kind, () => {
      this.#alarms.delete(kind);
      this.#startRound();
    });
    this.#alarms.set(kind, { at, cancel });
  }

  #startRound(): void {
    const processor = this.#processor;
    if (processor === undefined) return;
    this.#again = this.#round !== undefined;
    this.#round ??= this.#poll(processor).finally(() => {
      this.#giveBack();
      this.#round = undefined;
      if (this.#again) this.#startRound();
      processor.roundEnded();
    });
  }

  async #poll(processor: DueTimerProcessor): Promise<void> {
    const { clock, logger, storage } = this.#options;
    try {
      for (const { dueAt, kind } of await this.#processDue(processor)) {
        // A clock of tests skips sleeps, but not the times of schedules, of which there is always another one.
        this.schedule(dueAt, kind === "timer" ? "sleep" : "limit");
      }
    } catch (err) {
      if (!storage.failed(err)) logger.warn({ err }, "failed to poll for due timers; trying again");
      this.schedule(clock.now() + shortPause, "sleep");
    }
  }

  /** Processes all due timers and returns the time of the next. */
  async #processDue(processor: DueTimerProcessor): Promise<readonly DueTimer[]> {
    const { store, workflowIds, agentIds, signals, clock, clockSetBack } = this.#options;
    const held = new Set<string>();
    while (this.#processor !== undefined) {
      // Those that are held, take long or cannot be processed do not keep out the ones behind them.
      const limit = foundAtOnce + held.size + this.#failed.size + this.#underWay.size;
      const free = (timer: DueTimer) => !this.#underWay.has(subjectOf(timer));
      const query = { workflowIds, agentIds, ...(signals && { signals }), limit };
      const earliest = await store.due(query);
      const now = clock.now();
      const isBacklog = this.#polledAt > 0 && earliest.filter(({ dueAt }) => dueAt <= now).length >= limit;
      // Where there are more than a round takes, it takes as many of those that have fallen due since. Limits keep their order: an
      // earlier one of the same execution may be in the backlog.
      const latest = isBacklog
        ? (await store.due({ ...query, after: this.#passAfter, limit: foundAtOnce })).filter(
            ({ kind }) => kind !== "deadline" && kind !== "timeout",
          )
        : [];
      const found = inTurn(earliest, latest).filter(free);
      if (now < this.#polledAt - clockTolerance) {
        this.#failed.clear();
        clockSetBack?.();
      }
      this.#polledAt = now;
      this.#forgetFailed(now);
      const due = found.filter((timer) => this.#nextTry(timer) <= now);
      if (due.length === 0) return found.map((timer) => ({ ...timer, dueAt: this.#nextTry(timer) }));
      held.clear();
      this.#giveBack();
      const { next, waiting } = nextOfEach(due, processor);
      this.#waiting = waiting;
      const taken = new Set(next.map(({ timer }) => subjectOf(timer)));
      const left = latest.find((timer) => due.includes(timer) && !taken.has(subjectOf(timer)));
      this.#passAfter = Math.min(left === undefined ? now : left.dueAt - 1, now - lateWrite);
      if (await this.#processAll(processor, next, now, held)) continue;
      // Nothing could be processed: pause, to avoid a busy loop.
      const rest = found.filter((timer) => free(timer) && (timer.dueAt > now || !held.has(subjectOf(timer))));
      return rest.map((timer) => {
        const at = this.#nextTry(timer);
        return { ...timer, dueAt: at > now ? at : now + shortPause };
      });
    }
    return [];
  }

  /** Whether any was processed in time. Held timers are added; another round follows timers that take longer. */
  async #processAll(
    processor: DueTimerProcessor,
    next: readonly DueWork[],
    now: number,
    held: Set<string>,
  ): Promise<boolean> {
    let isOver = false;
    let anyDone = false;
    const all = next.map(async (work) => {
      const subject = subjectOf(work.timer);
      const processing = this.#process(processor, work, now);
      this.#underWay.set(subject, processing);
      const processed = await processing;
      this.#underWay.delete(subject);
      if (isOver) return this.#startRound();
      if (processed === "held") held.add(subject);
      anyDone ||= processed === "done";
    });
    const allOver = Promise.all(all);
    const { timedOut } = await withTimeout(allOver, roundPatience, { keepAlive: false });
    // So many at once are not single rows, but a store that is slow for all of them.
    if (timedOut && this.#underWay.size > maxLeft) await allOver;
    isOver = true;
    return anyDone;
  }

  async #process(processor: DueTimerProcessor, { timer, before }: DueWork, now: number): Promise<Processed> {
    const { executionId, workflowId, kind } = timer;
    try {
      const processing =
        before === undefined ? processor.process(timer, now) : processor.wakeBefore(timer, before, now);
      const processed = await processing;
      if (processed === "later") this.#putOff(subjectOf(timer), now, shortPause, true);
      else this.#failed.delete(subjectOf(timer));
      return processed;
    } catch (err) {
      const { logger, storage } = this.#options;
      if (storage.failed(err)) return "refused";
      this.#putOff(subjectOf(timer), now, firstPause, false);
      logger.error({ err, executionId, workflowId, kind }, "failed to process due timer");
      return "refused";
    }
  }

  #putOff(subject: string, now: number, first: number, isEarly: boolean): void {
    const pause = Math.min(longestPause, (this.#failed.get(subject)?.pause ?? first / 2) * 2);
    if (this.#failed.size < maxFailed) this.#failed.set(subject, { until: now + pause, pause, isEarly });
  }

  /** When it falls due; later when something in the same execution could not be processed. */
  #nextTry(timer: DueTimer): number {
    return Math.max(timer.dueAt, this.#failed.get(subjectOf(timer))?.until ?? 0);
  }

  /** Those that were not tried again although it was time are not due any more. */
  #forgetFailed(now: number): void {
    for (const [subject, { until }] of this.#failed) {
      if (until + longestPause <= now) this.#failed.delete(subject);
    }
  }
}

/** One of each, in turn. */
function inTurn(earliest: readonly DueTimer[], latest: readonly DueTimer[]): readonly DueTimer[] {
  if (latest.length === 0) return earliest;
  const idOf = (timer: DueTimer) => `${timer.kind} ${timer.dueAt} ${subjectOf(timer)}`;
  const known = new Set(earliest.map(idOf));
  const others = latest.filter((timer) => !known.has(idOf(timer)));
  return earliest.flatMap((timer, index) => [timer, ...others.slice(index, index + 1)]);
}

/** The execution, the schedule, the delivery or the work of events that a timer is of: a schedule may have the id of an execution. */
function subjectOf({ kind, executionId }: DueTimer): string {
  const isOwn = kind === "schedule" || kind === "signal" || kind === "delivery";
  return `${isOwn ? kind : "execution"} ${executionId}`;
}

/**
 * The first timer of each execution, and how many find no slot. Wake-ups need room. Deadlines and timeouts do not, and
 * a wake-up that one of them has to wait for has room of its own.
 */
function nextOfEach(
  due: readonly DueTimer[],
  processor: DueTimerProcessor,
): { readonly next: readonly DueWork[]; readonly waiting: number } {
  const { room, roomForLimits } = processor;
  const next = new Map<string, DueWork>();
  let waiting = 0;
  let woken = 0;
  for (const limit of due) {
    if (limit.kind === "timer" || limit.kind === "schedule" || next.has(subjectOf(limit))) continue;
    if (limit.kind === "end" || limit.kind === "signal" || limit.kind === "delivery") {
      next.set(subjectOf(limit), { timer: limit });
      continue;
    }
    const { executionId, workflowId, timerAt } = limit;
    const sleepsFirst = timerAt !== null && timerAt <= limit.dueAt;
    const timer: DueTimer = { kind: "timer", executionId, workflowId, dueAt: timerAt ?? limit.dueAt };
    if (!sleepsFirst) next.set(subjectOf(limit), { timer: limit });
    else if (woken < roomForLimits) {
      woken++;
      next.set(subjectOf(limit), { timer, before: limit });
    } else waiting++;
  }
  const usersOverShare = processor.usersOverShare();
  for (const timer of due) {
    if ((timer.kind !== "timer" && timer.kind !== "schedule") || next.has(subjectOf(timer))) continue;
    if (!processor.takesSlot(timer)) {
      next.set(subjectOf(timer), { timer });
      continue;
    }
    if (timer.kind === "timer" && usersOverShare.has(timer.userId ?? null)) continue;
    if (woken < room) {
      woken++;
      next.set(subjectOf(timer), { timer });
    } else waiting++;
  }
  return { next: [...next.values()], waiting };
}
