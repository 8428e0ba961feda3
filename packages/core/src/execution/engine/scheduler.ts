// The scheduler: finds in the store what falls due, and has it processed on time. Nothing that waits is held in memory.
//
// It polls for what falls due first, processes what is due, and sets an alarm for the next. It also polls once a
// minute, so that what other processes have written is found too.
import type { Logger } from "../../observe/log/logger.ts";
import type { DueTimer, Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";

export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Only executions of these workflows. */
  readonly workflowIds: readonly string[];
  /** True when an error is the storage's, which is told elsewhere. */
  storageFailed(error: unknown): boolean;
}

/**
 * What came of something that was due. `refused`: another caller or process was first. `held`: something that fell due
 * earlier in the same execution comes first; its process schedules this again.
 */
export type Processed = "done" | "refused" | "held";

/** Who processes what is due. */
export interface DueTimerProcessor {
  /** How many executions it may wake now. */
  readonly room: number;
  /** How many of those that have to wake before a deadline or a timeout. */
  readonly roomForLimits: number;
  /** The users whose executions are not woken now, because they run their share already and others wait. */
  standsBack(): ReadonlySet<string | null>;
  /** Keeps up to so many free slots; the returned function gives them back. */
  keepFor(count: number): () => void;
  process(timer: DueTimer, now: number): Promise<Processed>;
  /** A round is over: what it did not need is free for others. */
  roundEnded(): void;
}

/** At most this many milliseconds between two polls. */
const pollPeriod = 60_000;
/** Milliseconds until the next try while the store is in trouble, or while this process is full. */
const shortPause = 100;
const foundAtOnce = 200;

type AlarmKind = Parameters<Clock["at"]>[1];

export class Scheduler {
  readonly #options: SchedulerOptions;
  #processor: DueTimerProcessor | undefined;
  /** The next alarm of each kind. */
  readonly #alarms = new Map<AlarmKind, { readonly at: number; cancel(): void }>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  /** Something earlier than the current round knows of may have fallen due. */
  #again = false;
  /** How many due executions were left because this process was full. */
  #waiting = 0;
  /** Gives back the slots that are kept for the current round. */
  #giveBack: () => void = () => undefined;
  #stopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Polls at once, then whenever something falls due, until `stop`. */
  start(processor: DueTimerProcessor): void {
    this.#processor = processor;
    this.#timer = setInterval(() => this.#startRound(), pollPeriod).unref();
    this.#startRound();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const { cancel } of this.#alarms.values()) cancel();
    await this.#round;
  }

  /** The current round; undefined when there is none. */
  get round(): Promise<void> | undefined {
    return this.#round;
  }

  /** An execution has left this process: what found no room may find it now. */
  roomFreed(): void {
    if (this.#waiting === 0 || this.#processor === undefined) return;
    this.#giveBack();
    this.#giveBack = this.#processor.keepFor(this.#waiting);
    this.#waiting = 0;
    this.#startRound();
  }

  /** Something in the store falls due at this time. */
  schedule(at: number, kind: AlarmKind): void {
    const known = this.#alarms.get(kind);
    if (this.#stopped || (known !== undefined && known.at <= at)) return;
    known?.cancel();
    const cancel = this.#options.clock.at(at, kind, () => {
      this.#alarms.delete(kind);
      this.#startRound();
    });
    this.#alarms.set(kind, { at, cancel });
  }

  #startRound(): void {
    if (this.#stopped || this.#processor === undefined) return;
    const processor = this.#processor;
    this.#again = this.#round !== undefined;
    this.#round ??= this.#poll(processor).finally(() => {
      this.#giveBack();
      this.#round = undefined;
      if (this.#again) this.#startRound();
      processor.roundEnded();
    });
  }

  async #poll(processor: DueTimerProcessor): Promise<void> {
    const { clock, logger, storageFailed } = this.#options;
    try {
      for (const { dueAt, kind } of await this.#processDue(processor)) {
        this.schedule(dueAt, kind === "timer" ? "sleep" : "limit");
      }
    } catch (err) {
      if (!storageFailed(err)) logger.warn({ err }, "failed to poll for due timers; trying again");
      this.schedule(clock.now() + shortPause, "sleep");
    }
  }

  /** Processes everything that is due and returns what comes next. */
  async #processDue(processor: DueTimerProcessor): Promise<readonly DueTimer[]> {
    const { store, workflowIds, clock } = this.#options;
    const held = new Set<string>();
    while (!this.#stopped) {
      // Those that are held do not keep out the ones behind them.
      const found = await store.due({ workflowIds, limit: foundAtOnce + held.size });
      const now = clock.now();
      const due = found.filter(({ dueAt }) => dueAt <= now);
      if (due.length === 0) return found;
      held.clear();
      const process = async (timer: DueTimer) => {
        const processed = await this.#process(processor, timer, now);
        if (processed === "held") held.add(timer.executionId);
        return processed === "done";
      };
      this.#giveBack();
      const { next, waiting } = nextOfEach(due, processor);
      this.#waiting = waiting;
      const done = await Promise.all(next.map(process));
      if (done.includes(true)) continue;
      // Nothing could be processed: pause, to avoid a busy loop.
      const again = due.filter(({ executionId }) => !held.has(executionId));
      const later = found.filter(({ dueAt }) => dueAt > now);
      return [...again.map((timer) => ({ ...timer, dueAt: now + shortPause })), ...later];
    }
    return [];
  }

  async #process(processor: DueTimerProcessor, timer: DueTimer, now: number): Promise<Processed> {
    try {
      return await processor.process(timer, now);
    } catch (err) {
      const { executionId, workflowId, kind } = timer;
      const { logger, storageFailed } = this.#options;
      if (!storageFailed(err))
        logger.error({ err, executionId, workflowId, kind }, "failed to process due timer");
      return "refused";
    }
  }
}

/**
 * What comes first in each execution, and how many find no room. Wake-ups need room. Deadlines and timeouts do not, and
 * a wake-up that one of them has to wait for has room of its own.
 */
function nextOfEach(
  due: readonly DueTimer[],
  processor: DueTimerProcessor,
): { readonly next: readonly DueTimer[]; readonly waiting: number } {
  const { room, roomForLimits } = processor;
  const next = new Map<string, DueTimer>();
  let waiting = 0;
  let woken = 0;
  for (const limit of due) {
    if (limit.kind === "timer" || next.has(limit.executionId)) continue;
    const { executionId, workflowId, timerAt } = limit;
    const sleepsFirst = timerAt !== null && timerAt <= limit.dueAt;
    const timer: DueTimer = { kind: "timer", executionId, workflowId, dueAt: timerAt ?? limit.dueAt };
    if (!sleepsFirst) next.set(executionId, limit);
    else if (woken < roomForLimits) {
      woken++;
      next.set(executionId, timer);
    } else waiting++;
  }
  const standsBack = processor.standsBack();
  for (const timer of due) {
    if (timer.kind !== "timer" || next.has(timer.executionId)) continue;
    if (standsBack.has(timer.userId ?? null)) continue;
    if (woken < room) {
      woken++;
      next.set(timer.executionId, timer);
    } else waiting++;
  }
  return { next: [...next.values()], waiting };
}
