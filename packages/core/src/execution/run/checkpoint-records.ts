// The checkpoints of one execution on their way to the journal: into the next batch, and back to their bodies once that
// is committed.
import type { JournalEvent } from "../../journal/events.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Clock } from "../../values/clock.ts";
import type { DoneCheckpoint, FailedCheckpoint } from "../body/checkpoint-log.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import type { CommitBatch } from "./commit-batch.ts";
import { checkpointEvent, checkpointRetryEvent } from "./step-events.ts";

export class CheckpointRecords {
  readonly #journal: Journal;
  readonly #clock: Clock;
  /** Those that are not committed yet, by path. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Resolves once it is committed, by this call or by an earlier one. */
  done(batch: CommitBatch, command: RunCommand, checkpoint: DoneCheckpoint): Promise<void> {
    const { path } = checkpoint;
    // An attempt whose time was up may be late: its step has ended without it.
    if (this.#journal.get(command.path)?.outcome !== undefined) return Promise.resolve();
    if (this.#journal.checkpoints?.get(path)?.recorded) {
      return this.#waiting.get(path)?.promise ?? Promise.resolve();
    }
    const event = checkpointEvent(command, checkpoint, this.#clock.now());
    this.#journal.checkpointCompleted(event);
    batch.events.push(event);
    const committed = Promise.withResolvers<void>();
    this.#waiting.set(path, committed);
    return committed.promise;
  }

  failed(batch: CommitBatch, command: RunCommand, checkpoint: FailedCheckpoint): void {
    const event = checkpointRetryEvent(command, checkpoint, this.#clock.now());
    this.#journal.checkpointFailed(event);
    batch.events.push(event);
  }

  /** Lets the bodies continue whose checkpoints these are. */
  committed(events: readonly JournalEvent[]): void {
    for (const event of events) {
      if (event.type !== "checkpoint-complete") continue;
      this.#waiting.get(event.path)?.resolve();
      this.#waiting.delete(event.path);
    }
  }

  /** Nothing more is committed here. */
  abandon(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error("The execution is no longer run here"));
    this.#waiting.clear();
  }
}
