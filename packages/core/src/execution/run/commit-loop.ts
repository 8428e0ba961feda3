// Writes the commits of one execution, one in flight at a time, and follows the position of its journal.
import type { ExecutionOutbox } from "../../delivery/outbox.ts";
import type { JournalEvent } from "../../journal/events.ts";
import type { CommitResult, EventPosition, Store } from "../../store/store.ts";
import type { NewStoredEvent } from "../../store/stored-event.ts";
import { type BuiltCommit, type CommitTarget, recordedBy } from "./build-commit.ts";
import type { LoadedExecution } from "./loaded-execution.ts";
import { OthersEvents, type OthersEventsOptions } from "./others-events.ts";
import type { Spender } from "./spent.ts";

/** Receives how the store fares with commits. */
export interface StorageReports {
  sent(): void;
  replied(): void;
  /** Something was written. */
  wrote(): void;
  /** True when the storage is to blame, which is logged once for all executions. */
  failed(error: unknown): boolean;
}

export interface CommitLoopOptions extends Pick<OthersEventsOptions, "takeIn" | "failed"> {
  readonly executionId: string;
  readonly execution: LoadedExecution;
  /** The user and the workflow that the usage of calls counts for. */
  readonly spender: Spender;
  readonly outbox?: ExecutionOutbox | undefined;
  /** Whether it has started other executions here. Default: it has not. */
  hasChildren?(): boolean;
  readonly store: Pick<Store, "commit" | "events">;
  readonly storage: StorageReports;
}

/** A position in the journal. */
type Position = Pick<JournalEvent, "sequence" | "timestamp">;

export class CommitLoop {
  readonly #options: CommitLoopOptions;
  #inFlight = false;
  /** The number of recorded commits. */
  #commits = 0;
  #sequence: number;
  #lastAt: number;
  /** The last event of another writer that was read and is not yet named by a recorded commit. */
  #other: EventPosition | undefined;
  /** Events above this number may be of other writers. */
  #knownFrom: number;
  /** Created when others have written. */
  #others: OthersEvents | undefined;
  #stopped = false;

  constructor(options: CommitLoopOptions) {
    this.#options = options;
    const { sequence, lastAt } = options.execution;
    this.#sequence = sequence;
    this.#lastAt = lastAt;
    this.#knownFrom = sequence;
  }

  /** True while a commit is in flight, or nothing may be committed. */
  get inFlight(): boolean {
    return this.#inFlight;
  }

  /** True while events of other writers are being read. */
  get isReading(): boolean {
    return this.#others?.isReading === true;
  }

  /** The number of the last known event. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The time of the last known event, or a later one: no event that is written here is earlier. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** The first events of a new execution are written with its creation. */
  began({ sequence, timestamp }: Position): void {
    this.knows(sequence, timestamp);
    this.#knownFrom = sequence;
  }

  /** This event is known: later ones have higher numbers, and none of them is earlier. */
  knows(sequence = 0, timestamp = 0): void {
    this.#sequence = Math.max(this.#sequence, sequence);
    this.#lastAt = Math.max(this.#lastAt, timestamp);
  }

  /** The next commit names this event of another writer: a store that has lost it does not record the consequences. */
  noteOther({ sequence, timestamp }: Position): void {
    this.knows(sequence, timestamp);
    if (sequence >= (this.#other?.sequence ?? 0)) this.#other = { sequence, at: timestamp };
  }

  /** Identity and position of the next commit. */
  target(stepIndex: number): CommitTarget {
    const { executionId, execution, spender, outbox } = this.#options;
    const { token, values } = execution;
    // A commit that was not sent, or was refused, leaves its number to the next: the store takes a gap for a loss.
    const number = this.#commits + 1;
    const [after, lastAt, others] = [this.#sequence, this.#lastAt, this.#other];
    const hasChildren = this.#options.hasChildren?.();
    return {
      executionId,
      token,
      number,
      stepIndex,
      values,
      after,
      lastAt,
      others,
      spender,
      outbox,
      hasChildren,
    };
  }

  /** Commits nothing more: the claim is being given back. */
  hold(): void {
    this.#inFlight = true;
  }

  /** Sends a commit. After a failure nothing is in flight only once another one was sent and recorded. */
  send(
    { commit }: BuiltCommit,
    done: (result: CommitResult) => void,
    failed: (error: unknown) => void,
  ): void {
    const { store, storage } = this.#options;
    this.#inFlight = true;
    storage.sent();
    store.commit(commit).then(
      (result) => {
        storage.replied();
        storage.wrote();
        this.#inFlight = false;
        done(result);
      },
      (error: unknown) => {
        storage.replied();
        failed(error);
      },
    );
  }

  /** Adds the events of a recorded commit to the journal in memory and returns them. */
  record(
    built: BuiltCommit,
    result: CommitResult,
  ): { readonly events: readonly JournalEvent[]; readonly stored: readonly NewStoredEvent[] } {
    const { values, journal } = this.#options.execution;
    this.#commits = built.commit.number;
    if (this.#other === built.commit.others) this.#other = undefined;
    const { events, stored } = recordedBy(built, result);
    // Others have written in between, and their events may not have been read.
    const missed = result.sequence - stored.length > this.#sequence;
    this.knows(result.sequence, events.at(-1)?.timestamp);
    if (missed) queueMicrotask(() => this.readOthers({ must: false }));
    values.recorded(stored, result.sequence - stored.length + 1);
    for (const event of events) journal.committed(event);
    return { events, stored };
  }

  /** `must`: a resume came before the execution could go idle, and it waits for that. */
  readOthers(how: { readonly must: boolean }): void {
    if (this.#stopped) return;
    const { executionId, store, storage, takeIn, failed } = this.#options;
    this.#others ??= new OthersEvents({
      executionId,
      store,
      after: this.#knownFrom,
      storageFailed: (error) => storage.failed(error),
      takeIn,
      failed,
    });
    this.#others.look(how);
  }

  /** Stops reading. */
  stop(): void {
    this.#stopped = true;
    this.#others?.stop();
  }
}
