// One call of a tool: read from the record, or run and recorded, perhaps after a person's word.
import { ToolDeniedError } from "../../errors/index.ts";
import type { CheckpointCall } from "../../journal/events.ts";
import type { JsonSchema } from "../../values/schema.ts";
import { CallsWaitError, type CallWaits, type Decision, decisionSchema } from "./call-waits.ts";
import { LoopLeftError } from "./loop-left-error.ts";
import type { CallRecorder, EndedCall } from "./recorder.ts";
import { readOutcome, writeError, writeOutput } from "./tool-outcome.ts";

/** The loop that the call belongs to. */
export interface ToolLoop {
  readonly recorder: CallRecorder;
  /** Aborted when the loop is left. */
  readonly signal: AbortSignal;
  checkMayBegin(): void;
  leave(reason: unknown): LoopLeftError;
  track<T>(work: Promise<T>): Promise<T>;
  recordToolCall(call: EndedCall): Promise<void>;
}

/** What the tool does. */
export interface ToolWork {
  readonly input: unknown;
  /** Undefined for a tool whose output comes from outside. */
  readonly execute: ((input: unknown) => unknown) | undefined;
  /** An input that a person has edited, as the tool's schema returns it. */
  parse(input: unknown): unknown;
  inputSchema(): PromiseLike<JsonSchema>;
  outputSchema(): PromiseLike<JsonSchema | undefined>;
}

export type ToolFacts = Extract<CheckpointCall, { readonly kind: "tool" }>;

export class ToolCall {
  readonly place: string;
  /** True when its outcome was recorded in an earlier life. */
  readonly isWalked: boolean;
  readonly #loop: ToolLoop;
  readonly #called: ToolFacts;
  /** Why it must be approved; undefined when it need not be. */
  #approval: string | undefined;
  #hasRun = false;

  constructor(loop: ToolLoop, place: string, called: ToolFacts) {
    this.#loop = loop;
    this.place = place;
    this.#called = called;
    this.isWalked = loop.recorder.read(place) !== undefined;
  }

  get executionId(): string {
    return this.#loop.recorder.executionId;
  }
  /** Such as `ask#call[2].tool[0]`. */
  get path(): string {
    return this.#loop.recorder.pathOf(this.place);
  }
  get attempt(): number {
    return this.#loop.recorder.attempt;
  }
  /** The same whenever this tool is called from this place. */
  get idempotencyKey(): string {
    return `${this.executionId}:${this.path}`;
  }
  get hasRun(): boolean {
    return this.#hasRun;
  }

  emit(type: string, data?: unknown): void {
    this.#loop.recorder.emit(type, data);
  }

  /** A person must approve it first. */
  mustBeApproved(reason: string | undefined): void {
    this.#approval = reason ?? `The tool ${this.#called.toolName} needs approval`;
  }

  /** What the tool returns or throws, through JSON: the same now and when it is walked again. */
  async run(work: ToolWork): Promise<unknown> {
    this.#hasRun = true;
    const known = this.#loop.recorder.read(this.place);
    if (known !== undefined) return readOutcome(known.output);
    try {
      const execute = await this.#decided(work);
      this.#loop.checkMayBegin();
      return await this.#loop.track(this.#do(execute));
    } catch (thrown) {
      if (!(thrown instanceof LoopLeftError)) throw thrown;
      // The AI SDK would show the model what a tool throws: it gets nothing until its loop has been stopped.
      this.#loop.leave(thrown.reason);
      await stopped(this.#loop.signal);
      throw thrown;
    }
  }

  /** What is to be done once whoever must be asked has been. */
  async #decided(work: ToolWork): Promise<() => unknown> {
    const { waits } = this.#loop.recorder;
    const { execute, input } = work;
    if (waits === undefined || (execute !== undefined && this.#approval === undefined)) {
      return () => execute?.(input);
    }
    const resumed = waits.resumedWith(this.place);
    if (resumed === undefined) throw await this.#wait(waits, work);
    if (execute === undefined) return () => JSON.parse(resumed);
    const decision: Decision = JSON.parse(resumed);
    if (!decision.approved) {
      return () => {
        throw new ToolDeniedError({ toolName: this.#called.toolName, reason: decision.reason });
      };
    }
    return async () => execute(decision.input === undefined ? input : await work.parse(decision.input));
  }

  async #wait(waits: CallWaits, work: ToolWork): Promise<LoopLeftError> {
    const { toolName } = this.#called;
    const data = { toolName, input: work.input };
    const isClients = work.execute === undefined;
    const resumeSchema = isClients ? await work.outputSchema() : decisionSchema(await work.inputSchema());
    const reason = isClients ? `The tool ${toolName} waits for its output` : (this.#approval ?? "");
    waits.wait(this.place, { reason, data, resumeSchema });
    return this.#loop.leave(new CallsWaitError());
  }

  async #do(execute: () => unknown): Promise<unknown> {
    const startedAt = this.#loop.recorder.now();
    const base = { place: this.place, call: this.#called, startedAt, usage: undefined };
    let output: unknown;
    try {
      output = await lastOf(await execute());
    } catch (thrown) {
      if (thrown instanceof LoopLeftError) throw thrown;
      const { signal } = this.#loop.recorder;
      // It was stopped: that is not its outcome.
      if (signal.aborted) throw new LoopLeftError(signal.reason);
      await this.#loop.recordToolCall({ ...base, output: writeError(thrown) });
      throw thrown;
    }
    const text = this.#write(output);
    await this.#loop.recordToolCall({ ...base, output: text });
    return readOutcome(text);
  }

  /** An output that cannot be recorded fails whoever asked: the tool has done its work, and would do it again. */
  #write(output: unknown) {
    try {
      return writeOutput(output, this.path);
    } catch (error) {
      throw new LoopLeftError(error);
    }
  }
}

/** The last value of a tool that yields; others are what they are. */
async function lastOf(output: unknown): Promise<unknown> {
  if (!isAsyncIterable(output)) return output;
  let last: unknown;
  for await (const value of output) last = value;
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
