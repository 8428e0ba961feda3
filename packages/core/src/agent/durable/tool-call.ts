// One call of a tool: read from the record, or run and recorded, perhaps after approval.
import { ToolDeniedError } from "../../errors/index.ts";
import type { StepUsage } from "../../journal/events.ts";
import type { FactChange } from "../../store/fact-store.ts";
import { sumUsage } from "../../store/usage.ts";
import { Fields } from "../../values/fields.ts";
import type { JsonText } from "../../values/json.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import type { JsonSchema } from "../../values/schema.ts";
import {
  type ApprovalDeadline,
  CallsWaitError,
  type CallWait,
  type CallWaits,
  decisionAt,
  decisionSchema,
} from "./call-waits.ts";
import { readOutcome, readWritten, type WrittenPart } from "./tool-outcome.ts";
import { isAsyncIterable, type ToolFacts, type ToolLoop, ToolRun } from "./tool-run.ts";
import { ToolSteps } from "./tool-steps.ts";

/** The function of the tool. */
export interface ToolWork {
  readonly input: unknown;
  execute(input: unknown): unknown;
  /** True for a tool whose output comes from outside: it is not executed. Only where calls can wait. */
  readonly isClients: boolean;
  /** Whether it yields preliminary outputs: the AI SDK must know before it runs. */
  readonly yields: boolean;
  /** Shows the data parts that it wrote in an earlier life. */
  show(parts: readonly WrittenPart[]): void;
  /** Counts its usage in an earlier life. */
  used(usage: StepUsage): void;
  /** An input that a person has edited, as the tool's schema returns it. */
  parse(input: unknown): unknown;
  inputSchema(): PromiseLike<JsonSchema>;
  outputSchema(): PromiseLike<JsonSchema | undefined>;
}

export class ToolCall {
  readonly place: string;
  /** True when its outcome was recorded in an earlier life. */
  readonly isWalked: boolean;
  readonly #loop: ToolLoop;
  readonly #called: ToolFacts;
  /** Why it must be approved; undefined when it need not be. */
  #approval: string | undefined;
  #deadline: ApprovalDeadline | undefined;
  #hasRun = false;
  /** By type and id: a later one takes the place of an earlier one. */
  readonly #written = new Map<string, WrittenPart>();
  #unrecorded: StepUsage | undefined;
  #fact: FactChange | undefined;
  /** How the code of the tool waits. */
  readonly steps: ToolSteps;
  readonly #onLeft: ((left: unknown) => void) | undefined;

  /** `onLeft` is called when it leaves the loop. */
  constructor(loop: ToolLoop, place: string, called: ToolFacts, onLeft?: (left: unknown) => void) {
    this.#onLeft = onLeft;
    this.#loop = loop;
    this.place = place;
    this.#called = called;
    this.isWalked = loop.recorder.read(place) !== undefined;
    this.steps = new ToolSteps(loop, place, called);
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

  /** The tool has written a data part, which is recorded with its outcome unless it was only to be sent. */
  wrote(part: WrittenPart): void {
    if (part.transient !== true)
      this.#written.set(JSON.stringify([part.type, part.id ?? this.#written.size]), part);
  }

  /** The tool has called a model whose calls are not recorded: its own record has their usage. */
  used(usage: StepUsage): void {
    this.#unrecorded = sumUsage(this.#unrecorded ?? null, usage);
  }

  /** Its usage that no record has. */
  get unrecorded(): StepUsage | undefined {
    return this.#unrecorded;
  }

  /** A change of facts, which is kept with its record. */
  keeps(fact: FactChange): void {
    this.#fact = fact;
  }

  /** A person must approve it first. */
  mustBeApproved(reason: string | undefined, deadline?: ApprovalDeadline): void {
    this.#approval = reason ?? `The tool ${this.#called.toolName} needs approval`;
    this.#deadline = deadline;
  }

  /**
   * The outcome of the tool after JSON: the same now and when it is read from its record. A promise, or the values that
   * the tool yields, of which the last is its outcome.
   */
  run(work: ToolWork): Promise<unknown> | AsyncIterable<unknown> {
    this.#hasRun = true;
    const { recorder } = this.#loop;
    const known = recorder.read(this.place);
    if (known !== undefined) {
      work.show(readWritten(known.output));
      // The calls of a sub-agent have records of their own, which are not read again.
      for (const usage of [known.usage, recorder.usedBelow(this.place)])
        if (usage !== undefined) work.used(usage);
      return recorded(known.output);
    }
    const { waits } = recorder;
    if (waits && !waits.onlyTools && (work.isClients || this.#approval !== undefined))
      return work.yields
        ? this.#yielding(this.#eachAfterDecision(work, waits))
        : this.#leaving(this.#afterDecision(work, waits));
    try {
      this.#loop.checkMayBegin();
    } catch (thrown) {
      return this.#leaving(Promise.reject(thrown));
    }
    const output = attempt(() => work.execute(work.input));
    return isAsyncIterable(output)
      ? this.#yielding(this.#begin().each(output))
      : this.#leaving(this.#loop.track(this.#begin().of(output)));
  }

  async #afterDecision(work: ToolWork, waits: CallWaits): Promise<unknown> {
    const execute = await this.#decided(work, waits);
    this.#loop.checkMayBegin();
    return this.#loop.track(this.#begin().of(attempt(execute)));
  }

  async *#eachAfterDecision(work: ToolWork, waits: CallWaits): AsyncGenerator<unknown, undefined> {
    const execute = await this.#decided(work, waits);
    this.#loop.checkMayBegin();
    const run = this.#begin();
    // An error before the first yield is an outcome as well.
    const output = Promise.resolve(attempt(execute));
    const values = await output.catch(() => undefined);
    if (isAsyncIterable(values)) yield* run.each(values);
    else yield await this.#loop.track(run.of(output));
  }

  #begin(): ToolRun {
    const written = () => [...this.#written.values()];
    const takeUsage = () => {
      const used = this.#unrecorded;
      this.#unrecorded = undefined;
      return used;
    };
    const fact = () => this.#fact;
    const { place, path, steps } = this;
    return new ToolRun(this.#loop, { place, path, call: this.#called, written, fact, takeUsage, steps });
  }

  /** The AI SDK would show the error of a tool to the model: it gets nothing until its loop has been stopped. */
  async #leaving(result: Promise<unknown>): Promise<unknown> {
    try {
      return await result;
    } catch (thrown) {
      throw await this.#left(thrown);
    }
  }

  async *#yielding(values: AsyncIterable<unknown>): AsyncGenerator<unknown, undefined> {
    try {
      yield* values;
    } catch (thrown) {
      throw await this.#left(thrown);
    }
  }

  async #left(thrown: unknown): Promise<unknown> {
    if (!(thrown instanceof LoopLeftError)) return thrown;
    this.#loop.leave(thrown.reason, thrown.isWalkedAgain);
    this.#onLeft?.(thrown);
    await stopped(this.#loop.signal);
    return thrown;
  }

  /** The next step after approval. */
  async #decided(work: ToolWork, waits: CallWaits): Promise<() => unknown> {
    const resumed = waits.resumedWith(this.place);
    if (resumed === undefined) throw await this.#wait(waits, work);
    if (work.isClients) return () => JSON.parse(resumed);
    const { toolName } = this.#called;
    const decision = Fields.parse(
      resumed,
      (problem) => new TypeError(`The decision on ${toolName}: ${problem}`),
    );
    if (!decision.isTrue("approved")) {
      return () => {
        throw new ToolDeniedError({ toolName, reason: decision.optionalText("reason") });
      };
    }
    const input = decision.value("input");
    return async () => work.execute(input === undefined ? work.input : await work.parse(input));
  }

  async #wait(waits: CallWaits, work: ToolWork): Promise<LoopLeftError> {
    const { toolName } = this.#called;
    const { isClients, input } = work;
    const data = { toolName, input };
    const resumeSchema = isClients ? await work.outputSchema() : decisionSchema(await work.inputSchema());
    const reason = isClients ? `The tool ${toolName} waits for its output` : (this.#approval ?? "");
    waits.wait(this.place, {
      reason,
      data,
      resumeSchema,
      ...atDeadline(this.#deadline, this.#loop.recorder.now()),
    });
    return this.#loop.leave(new CallsWaitError());
  }
}

function atDeadline(
  deadline: ApprovalDeadline | undefined,
  now: number,
): Pick<CallWait, "deadline" | "onDeadline"> | undefined {
  return deadline && { deadline: deadline.at(now), onDeadline: decisionAt(deadline.onDeadline) };
}

async function recorded(outcome: JsonText): Promise<unknown> {
  return readOutcome(outcome);
}

/** The result of a function; an error that it throws at once is a rejected promise. */
function attempt(execute: () => unknown): unknown {
  try {
    return execute();
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
