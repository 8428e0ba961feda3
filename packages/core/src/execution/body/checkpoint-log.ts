// The interface of the driver for the checkpoints of a body.
import type { CheckpointCall, StepUsage } from "../../journal/events.ts";
import type { Failure } from "../../journal/failure.ts";
import type { JsonText } from "../../values/json.ts";
import type { RunCommand } from "../interpreter/commands.ts";

/** A checkpoint whose work is done. */
export interface DoneCheckpoint {
  readonly path: string;
  readonly output: JsonText;
  readonly startedAt: number;
  readonly attempt: number;
  /** Only of a call of an agent. */
  readonly call?: CheckpointCall | undefined;
  /** Only of a call of a model. */
  readonly usage?: StepUsage | undefined;
}

/** An attempt of a checkpoint that failed, with another one to follow. */
export interface FailedCheckpoint {
  readonly path: string;
  readonly error: Failure;
  readonly attempt: number;
  readonly retryAt: number;
}

export interface CheckpointLog {
  /** False while the execution is paused, or the process stops: nothing new begins. */
  readonly startsWork: boolean;
  /**
   * Records it, unless it was recorded before. Resolves once it is committed; rejects when the execution is no longer run
   * here, and then the outcome of the body is lost. `later`: with the next commit, which it does not request.
   */
  checkpointDone(
    command: RunCommand,
    checkpoint: DoneCheckpoint,
    options?: { readonly later: boolean },
  ): Promise<void>;
  /** Asks for that commit. */
  commitCheckpoints(): void;
  /** Records it with the next commit, which is sent before the body is waited for. */
  checkpointFailed(command: RunCommand, checkpoint: FailedCheckpoint): void;
}
