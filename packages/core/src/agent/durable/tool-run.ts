// One run of a tool: its outcome is recorded before it is shown; preliminary outputs are passed on as they come.
import type { CheckpointCall, StepUsage } from "../../journal/events.ts";
import type { FactChange } from "../../store/fact-store.ts";
import type { JsonText } from "../../values/json.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import type { CallRecorder, EndedCall } from "./recorder.ts";
import { asRecorded, readOutcome, type WrittenPart, writeError, writeOutput } from "./tool-outcome.ts";
import type { ToolSteps, ToolWait } from "./tool-steps.ts";

/** The loop that the call belongs to. */
export interface ToolLoop {
  readonly recorder: CallRecorder;
  /** Aborted when the loop is left. */
  readonly signal: AbortSignal;
  /** The waits of its tools, and of those of sub-agents. */
  readonly waits: ToolWait[];
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
  /** The change of facts that it has made; undefined for none. */
  fact(): FactChange | undefined;
  /** Its usage beside recorded calls; read when it is recorded. */
  takeUsage(): StepUsage | undefined;
  readonly steps: ToolSteps;
}

export class ToolRun {
  readonly #loop: ToolLoop;
  readonly #path: string;
  readonly #written: () => readonly WrittenPart[];
  readonly #fact: () => FactChange | undefined;
  readonly #takeUsage: () => StepUsage | undefined;
  readonly #steps: ToolSteps;
  readonly #called: ToolFacts;
  readonly #base: Omit<EndedCall, "output" | "usage">;

  constructor(loop: ToolLoop, { place, path, call, written, fact, takeUsage, steps }: RunningTool) {
    this.#fact = fact;
    this.#loop = loop;
    this.#steps = steps;
    this.#written = written;
    this.#takeUsage = takeUsage;
    this.#path = path;
    this.#called = call;
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
    await this.#steps.end();
    const text = this.#write(last);
    await this.#record(text, this.#fact());
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
      await this.#steps.end();
      await this.#record(this.#write(last), this.#fact());
    } finally {
      ended.resolve();
    }
  }

  /** Records the error of the tool, which is an outcome too. */
  async #failed(thrown: unknown): Promise<unknown> {
    try {
      await this.#steps.end();
    } catch (left) {
      return left;
    }
    if (thrown instanceof LoopLeftError) return thrown;
    const { signal } = this.#loop.recorder;
    // It was stopped: that is not its outcome.
    if (signal.aborted) return new LoopLeftError(signal.reason, true);
    const outcome = writeError(thrown, this.#written());
    await this.#record(outcome);
    return asRecorded(thrown, outcome);
  }

  #record(output: JsonText, fact?: FactChange): Promise<void> {
    const call = fact === undefined ? this.#base.call : { ...this.#called, fact };
    return this.#loop.recordToolCall({ ...this.#base, call, output, usage: this.#takeUsage() });
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
