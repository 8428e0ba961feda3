// The folds of executions that are not loaded: in memory as long as there is room, and as snapshots in the store. Both
// are shortcuts: what the journal says beyond them is added, and without them it is read from its beginning.
import type { Journal } from "../../journal/journal.ts";
import { type JournalPage, pageOf, readJournal } from "../../journal/read-journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type { ExecutionSpans } from "../../observe/trace/execution-spans.ts";
import type { Store } from "../../store/store.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import {
  addPage,
  type ExecutionFold,
  emptyFold,
  type FoldedRow,
  packFold,
  sizeOf,
  unpackFold,
} from "../run/execution-fold.ts";
import { type ResumableExecution, ResumedExecutions, textLength } from "./resumed-execution.ts";

/** When a snapshot is taken, and how much is held in memory. */
export interface FoldOptions {
  /** Journals with fewer events have no snapshot, and none is looked for. Default: 100. */
  readonly minEvents?: number;
  /**
   * A snapshot is taken when the journal has grown by this many bytes since the last, and by as much as that takes; 0: at
   * any growth. Default: 20 000.
   */
  readonly minGrowth?: number;
  /** The bytes of memory that folds may take together. Default: 16 MiB. */
  readonly memory?: number;
}

export interface FoldSources {
  readonly store: Store;
  readonly observation: Observation;
  readonly logger: Logger;
}

/** What an event takes in a journal beside its value, about. */
const eventSize = 100;

/** The bytes of a fold that is not kept as a snapshot: what is live is most of the journal then. */
const maxSnapshot = 4 * 1024 * 1024;

/** The most events that are read before anybody knows that they are needed, and how long they may be together. */
const earlyEvents = 100;
const earlyLength = 64 * 1024;

interface Held {
  readonly fold: ExecutionFold;
  /** Its row and what it waits for, where it has gone idle here. */
  readonly state: ResumableExecution | undefined;
  readonly size: number;
}

export class Folds {
  /** Executions whose rows are known too. */
  readonly resumed = new ResumedExecutions();
  readonly #sources: FoldSources;
  readonly #minEvents: number;
  readonly #minGrowth: number;
  readonly #memory: number;
  /** The one that was used longest ago is the first. */
  readonly #held = new TurnoverMap<string, Held>();
  #size = 0;

  constructor(sources: FoldSources, options: FoldOptions = {}) {
    this.#sources = sources;
    this.#minEvents = options.minEvents ?? 100;
    this.#minGrowth = options.minGrowth ?? 20_000;
    this.#memory = options.memory ?? 16 * 1024 * 1024;
  }

  /**
   * What the journal holds up to the row's number; refuses one that cannot be read. It stays here for whoever continues
   * the execution next, so it is only to be looked at. `compared`: the write that follows compares the fold that is held
   * here.
   */
  async read(row: FoldedRow, compared = false): Promise<Journal> {
    const held = this.#held.get(row.executionId)?.fold;
    const fits = held?.startAt === row.startAt && held.sequence >= row.sequence;
    if (fits && (compared || (await this.#isInJournal(row, held)))) return held.journal;
    const fold = await this.take(row);
    this.keep(row.executionId, fold);
    return fold.journal;
  }

  /**
   * Begins to read a short journal before its row is known, so that nobody waits for one after the other; undefined when it
   * is here. What was read is for `fill`.
   */
  readEarly(executionId: string): Promise<readonly StoredEvent[]> | undefined {
    if (this.#held.get(executionId) !== undefined) return undefined;
    const range = { executionId, after: 0, limit: earlyEvents, length: earlyLength };
    // Whoever needs the journal reads it again, and hears why it cannot be read.
    return this.#sources.store.events(range).catch(() => []);
  }

  /** Holds what was read early, where it is the whole journal. */
  async fill(row: FoldedRow, stored: readonly StoredEvent[]): Promise<void> {
    const events = stored.filter(({ sequence }) => sequence <= row.sequence);
    if (row.sequence >= this.#minEvents || events.at(-1)?.sequence !== row.sequence) return;
    if (this.#held.get(row.executionId) !== undefined) return;
    this.keep(row.executionId, await this.take(row, undefined, pageOf(events)));
  }

  /**
   * What the journal holds up to the row's number and no further: what comes later is not in the row either, and arrives
   * from the process that wrote it. The caller's from now on. `begin` is called with the spans before events are added;
   * `last` are the last events, where they are known; `compared`: the store has compared the fold that is held here.
   */
  async take(
    row: FoldedRow,
    begin?: (spans: ExecutionSpans | undefined) => void,
    last?: JournalPage,
    compared = false,
  ): Promise<ExecutionFold> {
    const { store, observation } = this.#sources;
    const { executionId, sequence: upTo } = row;
    const fold = (await this.#takeNewest(row, compared)) ?? emptyFold(row, observation);
    begin?.(fold.spans);
    if (last?.events[0]?.sequence === fold.sequence + 1) addPage(fold, last);
    const range = { executionId, after: fold.sequence, upTo };
    if (fold.sequence < upTo) for await (const page of readJournal(store, range)) addPage(fold, page);
    if (this.#isWhole(fold)) this.#takeSnapshot(executionId, fold);
    return fold;
  }

  /** An execution as it was when it went idle here, and when its last event was: others may have written since. */
  idle(executionId: string): { readonly state: ResumableExecution; readonly lastAt: number } | undefined {
    const held = this.#held.get(executionId);
    return held?.state && { state: held.state, lastAt: held.fold.lastAt };
  }

  /** This is the fold of all events of an execution; `state` is what else is known of one that has gone idle here. */
  keep(executionId: string, fold: ExecutionFold, state?: ResumableExecution): void {
    if (!this.#isWhole(fold)) return;
    this.#takeSnapshot(executionId, fold);
    const before = this.#held.get(executionId);
    // Another caller may have read further meanwhile.
    if (before?.fold.startAt === fold.startAt && before.fold.sequence > fold.sequence) return;
    this.#remove(executionId);
    const size = sizeOf(fold) + (state === undefined ? 0 : textLength(state));
    if (size > this.#memory / 4) return;
    this.#held.set(executionId, { fold, state, size });
    this.#size += size;
    while (this.#size > this.#memory) {
      const oldest = this.#held.oldest();
      if (oldest === undefined) return;
      this.#remove(oldest);
    }
  }

  /** The execution has ended with the event of this number. */
  forget(executionId: string, sequence: number): void {
    this.#remove(executionId);
    this.resumed.wrote(executionId, sequence);
  }

  /** The fold that is held here, or else the snapshot, if the journal continues it. */
  async #takeNewest(row: FoldedRow, compared: boolean): Promise<ExecutionFold | undefined> {
    const held = this.#remove(row.executionId)?.fold;
    const fits = held?.startAt === row.startAt && held.sequence <= row.sequence;
    if (fits && (compared || (await this.#isInJournal(row, held)))) return held;
    const kept = await this.#readSnapshot(row);
    return kept && (await this.#isInJournal(row, kept)) ? kept : undefined;
  }

  /**
   * Whether the journal holds the last event of the fold. A shared store may have lost it by a failover, and have another
   * one of the same number by now.
   */
  async #isInJournal({ executionId }: FoldedRow, { sequence, lastAt }: ExecutionFold): Promise<boolean> {
    const { store } = this.#sources;
    if (store.neighbours === undefined) return true;
    const [last] = await store.events({ executionId, after: sequence - 1, limit: 1, length: 1 });
    return last?.sequence === sequence && last.timestamp === lastAt;
  }

  #remove(executionId: string): Held | undefined {
    const held = this.#held.get(executionId);
    if (held === undefined) return undefined;
    this.#held.delete(executionId);
    this.#size -= held.size;
    return held;
  }

  /**
   * False when its spans, which hear of what is published here, have missed an event or heard of a later one; or when they
   * are gone, because that was the end.
   */
  #isWhole({ spans, sequence }: ExecutionFold): boolean {
    return spans === undefined ? this.#sources.observation.tracing === undefined : spans.isWholeAt(sequence);
  }

  async #readSnapshot(row: FoldedRow): Promise<ExecutionFold | undefined> {
    if (row.sequence < this.#minEvents) return undefined;
    const { store, observation, logger } = this.#sources;
    const { executionId } = row;
    const snapshot = await store.snapshot(executionId);
    try {
      return snapshot && unpackFold(row, snapshot, observation);
    } catch (err) {
      logger.warn(
        { err, executionId },
        "a snapshot could not be read: the journal is read from its beginning",
      );
      return undefined;
    }
  }

  /**
   * Keeps a snapshot when the journal has grown enough since the last one: at least by as much as a snapshot takes, so
   * that all snapshots together are never longer than the journal. Nobody waits for it, and it needs no claim: it says
   * nothing that the journal does not.
   */
  #takeSnapshot(executionId: string, fold: ExecutionFold): void {
    const { kept, sequence, bytes } = fold;
    if (sequence < this.#minEvents) return;
    const growth = bytes - kept.bytes + (sequence - kept.sequence) * eventSize;
    const enough = this.#minGrowth === 0 ? 1 : Math.max(this.#minGrowth, kept.length);
    if (growth < enough || sizeOf(fold) > maxSnapshot) return;
    const snapshot = packFold(executionId, fold);
    fold.kept = { sequence, bytes, length: snapshot.body.length };
    this.#sources.store.keepSnapshot(snapshot).catch((err: unknown) => {
      this.#sources.logger.debug({ err, executionId }, "a snapshot could not be kept");
    });
  }
}
