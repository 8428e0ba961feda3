// Retention: deletes executions that ended long ago or exceed the count, in small batches beside the running ones.
import { setTimeout as pause } from "node:timers/promises";
import { OptionError } from "../../errors/index.ts";
import type { EndPosition, ExecutionKind } from "../../store/store.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import type { Engine } from "./engine.ts";

/** Which ended executions are kept. Those that run or wait are never deleted. */
export interface RetentionOptions {
  /** Delete executions that ended longer ago than this: milliseconds, or a string such as "30d". Default: no limit. */
  readonly maxAge?: Duration;
  /** Keep at most this many of the most recently ended executions. Default: no limit. */
  readonly maxCount?: number;
  /** Remove conversations that nothing has changed for this long, such as "90d". Default: none is removed. */
  readonly conversations?: Duration;
  /** How long the usage of models is kept by day. Default: 400 days. */
  readonly usage?: Duration;
  /** How long events from outside are found by waits that begin later; their ids are known for 8 days. Default: 1 day. */
  readonly events?: Duration;
  /** At most about this many events are found by later waits, the newest. Default: 1 000 000. */
  readonly maxEvents?: number;
}

/** The bounds of events: milliseconds, and a number. */
export interface EventBounds {
  readonly keep: number;
  readonly maxCount: number;
}

/** Batch sizes and pacing. */
export interface RetentionPace {
  /** Milliseconds between two rounds. */
  readonly period: number;
  /** Executions deleted per batch. */
  readonly executions: number;
  /** Events deleted per batch. */
  readonly events: number;
  /** Milliseconds of pause between batches, left to other writers. */
  readonly pause: number;
}

/** Milliseconds after which the pages of a fork that was not finished are removed: it was left by a process that ended. */
const forksKept = 600_000;

/** Conversations removed per batch: one may have thousands of messages. */
const conversationsAtOnce = 10;

/** Bytes of the file that are given back at a time: moving them shares the writer, too. */
const compactedAtOnce = 512 * 1024;

// A batch shares the writer with every commit, so a commit may have to wait for one. Executions of three steps, ten at
// once, took 6.8 ms at p99 alone and 9.2 ms beside 2600 deletions a second at this pace; batches of 200 executions
// deleted twice as many and made that 17 ms (bench/engine/retention.ts).
const usualPace: RetentionPace = { period: 60_000, executions: 50, events: 500, pause: 15 };

/** Ages in milliseconds; undefined: no limit. */
interface RetentionBounds {
  readonly maxAge: number | undefined;
  readonly maxCount: number | undefined;
  readonly conversationAge: number | undefined;
}

/** Throws when an option has a value that it cannot work with. */
export function retentionBounds({
  maxAge,
  maxCount,
  conversations,
  usage,
  ...events
}: RetentionOptions): RetentionBounds {
  eventBounds(events);
  // The meter of usage removes its rows.
  if (usage !== undefined) parseDuration(usage, "retention.usage");
  if (maxCount !== undefined && !(Number.isInteger(maxCount) && maxCount >= 0)) {
    throw new OptionError({
      option: "retention.maxCount",
      problem: "expected a whole number of 0 or more",
    });
  }
  return {
    maxAge: maxAge === undefined ? undefined : parseDuration(maxAge, "retention.maxAge"),
    maxCount,
    conversationAge:
      conversations === undefined ? undefined : parseDuration(conversations, "retention.conversations"),
  };
}

function eventBounds({ events = "1d", maxEvents = 1_000_000 }: RetentionOptions): EventBounds {
  if (!(Number.isSafeInteger(maxEvents) && maxEvents >= 0))
    throw new OptionError({ option: "retention.maxEvents", problem: "expected a whole number of 0 or more" });
  return { keep: parseDuration(events, "retention.events"), maxCount: maxEvents };
}

/** The parts of the engine that retention uses. */
type RetentionParts = Pick<Engine, "store" | "clock" | "logger" | "storage" | "feed" | "kinds">;

export class Retention {
  readonly #engine: RetentionParts;
  readonly #bounds: RetentionBounds;
  readonly #pace: RetentionPace;
  readonly #trimEvents: (() => Promise<boolean>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  readonly #stopped = new AbortController();

  /** `trimEvents`: removes events, returns whether there are more; undefined where the host has none. */
  constructor(
    engine: RetentionParts,
    options: RetentionOptions,
    pace: RetentionPace = usualPace,
    trimEvents?: (bounds: EventBounds) => Promise<boolean>,
  ) {
    this.#engine = engine;
    this.#pace = pace;
    this.#bounds = retentionBounds(options);
    this.#trimEvents = trimEvents && (() => trimEvents(eventBounds(options)));
  }

  /** Starts a round now and on every period; does not wait. */
  start(): void {
    const limited = Object.values(this.#bounds).some((bound) => bound !== undefined);
    const isNeeded = this.#engine.kinds.some((kind) => kind.keptFor !== undefined && kind.claimable);
    if (!limited && !isNeeded && this.#trimEvents === undefined) return;
    this.#startRound();
    this.#timer = setInterval(() => this.#startRound(), this.#pace.period).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#round;
  }

  /** Deletes everything that is due now; returns the number of executions deleted. */
  async run(): Promise<number> {
    let deleted = 0;
    const now = this.#engine.clock.now();
    // No id is greater than this one: everything that ended in that millisecond is old enough.
    const endedBefore = (age: number) => ({ endAt: now - age, executionId: "\u{10ffff}" });
    if (this.#bounds.maxAge !== undefined) deleted += await this.#delete(endedBefore(this.#bounds.maxAge));
    let others = 0;
    for (const { name, keptFor } of this.#engine.kinds) {
      if (keptFor === undefined) continue;
      others += await this.#delete(endedBefore(Math.min(keptFor, this.#bounds.maxAge ?? keptFor)), name);
    }
    if (this.#bounds.maxCount !== undefined) {
      const position = await this.#engine.store.endedBeyond({ keep: this.#bounds.maxCount });
      if (position !== undefined) deleted += await this.#delete(position);
    }
    while (!this.#stopped.signal.aborted && (await this.#trimEvents?.())) await this.#pauseBriefly();
    const conversations = (await this.#removeConversations(now)) + (await this.#removeForks(now));
    // Without limits there is little to give back, and the next chats take its place.
    if (
      this.#bounds.maxAge !== undefined ||
      this.#bounds.maxCount !== undefined ||
      others + conversations > 0
    )
      await this.#compact();
    return deleted;
  }

  async #removeConversations(now: number): Promise<number> {
    if (this.#bounds.conversationAge === undefined) return 0;
    const { store, logger } = this.#engine;
    const before = now - this.#bounds.conversationAge;
    const limit = conversationsAtOnce;
    let removed = 0;
    for (let more = true; more && !this.#stopped.signal.aborted; ) {
      const ids = await store.conversations.removeUnchanged({ before, limit });
      removed += ids.length;
      // Other nodes and callers may have removed some of the batch: only an empty one is the last.
      more = ids.length > 0;
      if (more) await this.#pauseBriefly();
    }
    if (removed > 0) logger.info({ removed }, "removed conversations that nothing has changed for long");
    return removed;
  }

  async #removeForks(now: number): Promise<number> {
    const { conversations } = this.#engine.store;
    const before = now - forksKept;
    let removed = 0;
    for (; !this.#stopped.signal.aborted && (await conversations.removeUnfinishedFork({ before })); removed++)
      await this.#pauseBriefly();
    return removed;
  }

  /** Returns the space of deleted rows to the disk, including rows deleted before the process ended. */
  async #compact(): Promise<void> {
    for (let more = true; more && !this.#stopped.signal.aborted; ) {
      ({ more } = await this.#engine.store.compact({ bytes: compactedAtOnce }));
      if (more) await this.#pauseBriefly();
    }
  }

  async #delete(upTo: EndPosition, kind: ExecutionKind = "workflow"): Promise<number> {
    const { store, feed } = this.#engine;
    const { executions: limit, events } = this.#pace;
    const seen = new Set<string>();
    for (let more = true; more && !this.#stopped.signal.aborted; ) {
      const result = await store.deleteFinished({ kind, upTo, limit, events });
      for (const executionId of result.executionIds) {
        seen.add(executionId);
        // Its followers would wait for events that no longer come.
        feed.close(executionId);
      }
      more = result.more;
      if (more) await this.#pauseBriefly();
    }
    return seen.size;
  }

  async #pauseBriefly(): Promise<void> {
    const { signal } = this.#stopped;
    await pause(this.#pace.pause, undefined, { signal, ref: false }).catch(() => undefined);
  }

  #startRound(): void {
    this.#round ??= this.#runAndLog().finally(() => (this.#round = undefined));
  }

  async #runAndLog(): Promise<void> {
    const { logger, storage } = this.#engine;
    try {
      const deleted = await this.run();
      if (deleted > 0) logger.info({ deleted }, "deleted executions that ended long ago");
    } catch (err) {
      if (!storage.failed(err)) logger.warn({ err }, "deleting old executions failed; trying again later");
    }
  }
}
