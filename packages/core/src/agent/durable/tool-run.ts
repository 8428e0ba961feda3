// One run of a tool: its outcome is recorded before it is shown; preliminary outputs are passed on as they come.
import type { CheckpointCall, StepUsage } from "../../journal/events.ts";
import type { JsonText } from "../../values/json.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import type { CallRecorder, EndedCall } from "./recorder.ts";
import { asRecorded, readOutcome, type WrittenPart, writeError, writeOutput } from "./tool-outcome.ts";

/** The loop that the call belongs to. */
export interface ToolLoop {
  readonly recorder: CallRecorder;
  /** Aborted when the loop is left. */
  readonly signal: AbortSignal;
  checkMayBegin(): void;
  leave(reason: unknown, isWalkedAgain?: boolean): LoopLeftError;
  track<T>(work: Promise<T>): Promise<T>;
  recordToolCall(call: EndedCall): Promise<void>;
}

export type ToolFacts = Extract<CheckpointCall, { readonly kind: "tool" }>;

export interface RunningTool {
  readonly place: string;
  readonly path: string;
  readonly call: ToolFacts;
  /** The data parts that the tool has written so far. */
  written(): readonly WrittenPart[];
  /** Its usage beside recorded calls; read when it is recorded. */
  takeUsage(): StepUsage | undefined;
}

export class ToolRun {
  readonly #loop: ToolLoop;
  readonly #path: string;
  readonly #written: () => readonly WrittenPart[];
  readonly #takeUsage: () => StepUsage | undefined;
  readonly #base: Omit<EndedCall, "output" | "usage">;

  constructor(loop: ToolLoop, { place, path, call, written, takeUsage }: RunningTool) {
    this.#loop = loop;
    this.#written = written;
    this.#takeUsage = takeUsage;
    this.#path = path;
    this.#base = { place, call, startedAt: loop.recorder.now() };
  }

  /** The outcome of a tool that returns, or promises. */
  async of(output: unknown): Promise<unknown> {
    let last: unknown;
    try {
      const value = await output;
      if (!isAsyncIterable(value)) last = value;
      else for await (const each of value) last = each;
    } catch (thrown) {
      throw await this.#failed(thrown);
    }
    const text = this.#write(last);
    await this.#record(text);
    return readOutcome(text);
  }

  /** The values of a tool that yields; the last one is its outcome, and is recorded before the end. */
  async *each(values: AsyncIterable<unknown>): AsyncGenerator<unknown, undefined> {
    const ended = Promise.withResolvers<void>();
    void this.#loop.track(ended.promise);
    try {
      let last: unknown;
      try {
        for await (const value of values) {
          last = value;
          yield readOutcome(this.#write(value));
        }
      } catch (thrown) {
        throw await this.#failed(thrown);
      }
      await this.#record(this.#write(last));
    } finally {
      ended.resolve();
    }
  }

  /** Records the error of the tool, which is an outcome too. */
  async #failed(thrown: unknown): Promise<unknown> {
    if (thrown instanceof LoopLeftError) return thrown;
    const { signal } = this.#loop.recorder;
    // It was stopped: that is not its outcome.
    if (signal.aborted) return new LoopLeftError(signal.reason, true);
    const outcome = writeError(thrown, this.#written());
    await this.#record(outcome);
    return asRecorded(thrown, outcome);
  }

  #record(output: JsonText): Promise<void> {
    return this.#loop.recordToolCall({ ...this.#base, output, usage: this.#takeUsage() });
  }

  /** An output that cannot be recorded fails the call of the agent: the tool has done its work, and would do it again. */
  #write(output: unknown) {
    try {
      return writeOutput(output, this.#path, this.#written());
    } catch (error) {
      throw new LoopLeftError(error);
    }
  }
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
