// Where the calls of one agent are recorded: in the journal of a workflow's execution, or of a turn of a conversation.
//
// The loop around it does not know which. A place is relative to the agent's first call: `call[2]` is the third call of
// the model, `call[2].tool[0]` the first tool that it called, and the calls of a sub-agent are below its tool.
import type { CheckpointCall, StepUsage } from "../../journal/events.ts";
import type { JsonText } from "../../values/json.ts";
import type { CheckpointContext, CheckpointOptions } from "../../workflow/step-context.ts";
import type { CallWaits } from "./call-waits.ts";
import type { Children } from "./children.ts";

/** A call that has ended. */
export interface EndedCall {
  readonly place: string;
  readonly call: CheckpointCall;
  readonly output: JsonText;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Its usage; only where a model was called. */
  readonly usage: StepUsage | undefined;
}

/** The same as it is read again. */
export type RecordedCall = Pick<EndedCall, "call" | "output" | "usage">;

/**
 * Lets the last call of a reply be committed with the reply's end. All consequences of a call wait for `commit`: another
 * call, a hook of the host, and the readers of the reply's end.
 */
export interface CallDeferral {
  /** Records a call that asks for no tools; it is committed with the next write. Throws when that cannot be. */
  defer(call: EndedCall): void;
  /** True while there is one that may not be committed. */
  readonly isDeferring: boolean;
  /** Commits it now. Rejects as `CallRecorder.record` does. */
  commit(): Promise<void>;
}

/** Work inside a tool that is recorded by itself. */
export interface ToolCheckpoints {
  /** The recorded value, or that of the work once it is recorded. Rejects with a `LoopLeftError` when it must wait. */
  run(
    id: string,
    work: (context: CheckpointContext) => unknown,
    options: CheckpointOptions,
  ): Promise<unknown>;
  /** The path of the checkpoint that the current code is part of. */
  readonly inside: string | undefined;
  /** Resolves when none is under way; undefined when that is so already. */
  readonly settled: Promise<void> | undefined;
}

export interface CallRecorder {
  readonly executionId: string;
  /** The attempt of the step that calls the agent; 1 is the first. */
  readonly attempt: number;
  /** Aborted when the caller does not wait for the agent any more. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  /** The whole path of a place, such as `ask#call[2].tool[0]`. */
  pathOf(place: string): string;
  /** True when nothing was recorded at any place, neither in this life of the execution nor in an earlier one. */
  readonly isEmpty: boolean;
  /** The record at this place, of this life of the execution or an earlier one. */
  read(place: string): RecordedCall | undefined;
  /** The usage of the calls that are recorded below the tool call at this place; undefined for none. */
  usedBelow(place: string): StepUsage | undefined;
  /** Throws when no new call may begin: the loop is left, and the error goes to the caller of the agent. */
  checkMayBegin(): void;
  /**
   * Records a call with its usage. Resolves once it is committed. Rejects when that cannot be: this run no longer
   * counts, or the value is too large.
   */
  record(call: EndedCall): Promise<void>;
  /** The agent fails for this reason, also when it was to continue later: a tool that has ended would run again. */
  failed(reason: unknown): void;
  /** The usage of calls that were too large to be recorded; undefined when there was none, or it is not needed. */
  readonly unrecorded?: StepUsage | undefined;
  /** Undefined where each call is committed by itself. */
  readonly deferral?: CallDeferral | undefined;
  /**
   * Has the call of a model at this place wait for its provider, which refuses it with this error: returns when it is made
   * again. Undefined when it fails instead.
   */
  busyUntil?(place: string, error: unknown): number | undefined;
  /** Where calls can wait; undefined where they cannot. */
  readonly waits?: CallWaits | undefined;
  /** The executions that tools have started; undefined where they cannot start any. */
  readonly children?: Children | undefined;
  /** Checkpoints of the code of a tool, below its place. */
  checkpoints(place: string): ToolCheckpoints;
  /** Sends an event of a tool's own. */
  emit(type: string, data?: unknown): void;
}
