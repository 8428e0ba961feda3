// The folds of executions that are not loaded: in memory as long as there is room, and as snapshots in the store. Both
// are shortcuts: later events of the journal are added, and without them it is read from its beginning. The open spans of
// an execution lie beside its fold; where they are missing they are derived from the journal.
import { type JournalPage, readJournal } from "../../journal/read-journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type { ExecutionSpans } from "../../observe/trace/execution-spans.ts";
import type { TracedExecution } from "../../observe/trace/span-attributes.ts";
import type { Store } from "../../store/store.ts";
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
import type { LoadableState } from "./engine-kind.ts";

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

/** About the bytes of an event in a journal beside its value. */
const eventSize = 100;

/** The bytes of a fold that is not kept as a snapshot: most of the journal is live then. */
const maxSnapshot = 4 * 1024 * 1024;

/** A fold, and the open spans after the same event: undefined where they are not known. */
export interface TracedFold {
  readonly fold: ExecutionFold;
  readonly spans: ExecutionSpans | undefined;
}

/** Adds the events that follow to both. */
export function addEvents({ fold, spans }: TracedFold, page: JournalPage): void {
  addPage(fold, page);
  spans?.replay(page.events);
}

interface Held extends TracedFold {
  readonly size: number;
  /** The state of an execution that only this process writes to; undefined where it has to be read. */
  readonly state: LoadableState | undefined;
}

/** The length of its texts. */
function sizeOfState({ execution, suspensions }: LoadableState): number {
  let size = execution.context.length + (execution.input?.length ?? 0);
  for (const { reason, data, onDeadline, resumeSchema } of suspensions)
    for (const text of [reason, data, onDeadline, resumeSchema]) size += text?.length ?? 0;
  return size;
}

type TracedRow = FoldedRow & TracedExecution;

export class Folds {
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
   * The fold of the journal up to the row's number and no further: later events are not in the row either, and arrive from
   * the process that wrote them. It belongs to the caller from now on. The spans are undefined when tracing is off. Throws
   * when the journal cannot be read.
   */
  async take(row: TracedRow): Promise<TracedFold> {
    const { store, observation } = this.#sources;
    const { executionId, sequence: upTo } = row;
    const newest = (await this.#takeNewest(row)) ?? { fold: emptyFold(row), spans: undefined };
    const { fold } = newest;
    const traced = { fold, spans: newest.spans ?? (await observation.openSpans(row, fold.sequence)) };
    const range = { executionId, after: fold.sequence, upTo };
    if (fold.sequence < upTo) for await (const page of readJournal(store, range)) addEvents(traced, page);
    this.#takeSnapshot(executionId, traced);
    return traced;
  }

  /**
   * Holds the fold of all events of an execution that has gone idle here, its open spans when no event is missing there,
   * and its state, which counts only while no other process can write to it.
   */
  keep(
    executionId: string,
    fold: ExecutionFold,
    live: ExecutionSpans | undefined,
    state?: LoadableState,
  ): void {
    const spans = live?.isWholeAt(fold.sequence) ? live : undefined;
    this.#takeSnapshot(executionId, { fold, spans });
    const before = this.#held.get(executionId);
    // Another caller may have read further meanwhile.
    if (before?.fold.startAt === fold.startAt && before.fold.sequence > fold.sequence) return;
    this.forget(executionId);
    const size = sizeOf(fold) + (state === undefined ? 0 : sizeOfState(state));
    if (size > this.#memory / 4) return;
    const isShared = this.#sources.store.clusterChannel !== undefined;
    this.#held.set(executionId, { fold, spans, size, state: isShared ? undefined : state });
    this.#size += size;
    while (this.#size > this.#memory) {
      const oldest = this.#held.oldest();
      if (oldest === undefined) return;
      this.forget(oldest);
    }
  }

  /** The state of an execution that has gone idle here; undefined when it has to be read. */
  idleState(executionId: string): LoadableState | undefined {
    return this.#held.get(executionId)?.state;
  }

  /** Drops the fold that is held here, and returns it. */
  forget(executionId: string): TracedFold | undefined {
    const held = this.#held.get(executionId);
    if (held === undefined) return undefined;
    this.#held.delete(executionId);
    this.#size -= held.size;
    return held;
  }

  /** The fold that is held here, or else the snapshot, if the journal continues it. */
  async #takeNewest(row: TracedRow): Promise<TracedFold | undefined> {
    const held = this.forget(row.executionId);
    const fits = held?.fold.startAt === row.startAt && held.fold.sequence <= row.sequence;
    if (fits && (await this.#isInJournal(row, held.fold))) return held;
    const kept = await this.#readSnapshot(row);
    return kept && (await this.#isInJournal(row, kept.fold)) ? kept : undefined;
  }

  /**
   * Whether the journal holds the last event of the fold. A shared store may have lost it by a failover, and have another
   * one of the same number by now.
   */
  async #isInJournal({ executionId }: TracedRow, { sequence, lastAt }: ExecutionFold): Promise<boolean> {
    const { store } = this.#sources;
    if (store.clusterChannel === undefined) return true;
    const [last] = await store.events({ executionId, after: sequence - 1, limit: 1, length: 1 });
    return last?.sequence === sequence && last.timestamp === lastAt;
  }

  async #readSnapshot(row: TracedRow): Promise<TracedFold | undefined> {
    if (row.sequence < this.#minEvents) return undefined;
    const { store, observation, logger } = this.#sources;
    const { executionId } = row;
    const snapshot = await store.snapshot(executionId);
    try {
      const kept = snapshot && unpackFold(row, snapshot);
      if (kept === undefined) return undefined;
      const { fold, spans } = kept;
      return { fold, spans: await observation.openSpans(row, fold.sequence, spans) };
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
   * that all snapshots together are never longer than the journal. Nothing waits for it, and it needs no claim: it holds
   * nothing that the journal does not.
   */
  #takeSnapshot(executionId: string, { fold, spans }: TracedFold): void {
    const { kept, sequence, bytes } = fold;
    if (sequence < this.#minEvents) return;
    const growth = bytes - kept.bytes + (sequence - kept.sequence) * eventSize;
    const enough = this.#minGrowth === 0 ? 1 : Math.max(this.#minGrowth, kept.length);
    if (growth < enough || sizeOf(fold) > maxSnapshot) return;
    const snapshot = packFold(executionId, fold, spans?.pack());
    fold.kept = { sequence, bytes, length: snapshot.body.length };
    this.#sources.store.keepSnapshot(snapshot).catch((err: unknown) => {
      this.#sources.logger.debug({ err, executionId }, "a snapshot could not be kept");
    });
  }
}
