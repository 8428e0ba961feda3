// The loop of one agent over its records: recorded calls return their record, other calls are made, recorded, and then
// returned. The AI SDK's own loop runs again; this class intercepts each of its calls.
import { setImmediate as turn } from "node:timers/promises";
import type { UIMessage } from "ai";
import { OutputLimitError } from "../../errors/index.ts";
import type { CheckpointCall, StepUsage } from "../../journal/events.ts";
import type { Logger } from "../../observe/log/logger.ts";
import { type JsonText, toJson } from "../../values/json.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { CallsWaitError, isWaiting, RetryWaitError } from "./call-waits.ts";
import { type RecordedReply, readReply, toolCallIds } from "./model-parts.ts";
import type { CallDeferral, CallRecorder, EndedCall, RecordedCall } from "./recorder.ts";
import type { Steering } from "./steering.ts";
import { ToolCall } from "./tool-call.ts";
import type { ToolFacts } from "./tool-run.ts";
import type { ToolWait } from "./tool-steps.ts";

/** The call of the model whose tools run now. */
interface CurrentCall {
  readonly place: string;
  /** The positions of its tool calls by their ids; several where a provider repeats an id. */
  readonly positions: Map<string, number[]>;
  readonly tools: Map<string, ToolCall>;
}

/** Decides on the calls of models that are not recorded, those of sub-agents included. */
export interface CallGate {
  /** Asked before each of them: rejects when there may be none. */
  pass(loop: DurableLoop): Promise<void>;
  /** Asked after each step of a loop: whether that was the last one. */
  mustStop(): Promise<boolean>;
}

export class DurableLoop {
  readonly recorder: CallRecorder;
  readonly logger: Logger;
  /** The prefix of the places of this loop: "" for the agent that was called, the tool's place for a sub-agent. */
  readonly #prefix: string;
  readonly gate: CallGate | undefined;
  readonly #controller = new AbortController();
  readonly #inFlight = new Set<Promise<unknown>>();
  /** How many calls of the model have ended: the next one has this number, also when it is tried again. */
  #calls = 0;
  #current: CurrentCall;
  readonly #walked = new Set<number>();
  #isLive = false;
  #left: LoopLeftError | undefined;
  #warnedOfPrompt = false;

  /** Lets messages reach the reply while it is made; undefined where none can. */
  steering: Steering | undefined;

  /** The waits of its tools, and of those of sub-agents. */
  readonly waits: ToolWait[];

  constructor(
    recorder: CallRecorder,
    logger: Logger,
    gate?: CallGate,
    { prefix = "", waits = [] }: { readonly prefix?: string; readonly waits?: ToolWait[] } = {},
  ) {
    this.recorder = recorder;
    this.waits = waits;
    this.logger = logger;
    this.gate = gate;
    this.#prefix = prefix;
    // Tools that run before the first call: a person has approved them since.
    this.#current = { place: `${prefix}start`, positions: new Map(), tools: new Map() };
  }

  /** Aborted when the loop is left. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the loop was left; undefined when it was not. */
  get left(): LoopLeftError | undefined {
    return this.#left;
  }

  /** The loop of a sub-agent that a tool calls. */
  inside(place: string): DurableLoop {
    const { recorder, logger, gate, waits } = this;
    return new DurableLoop(recorder, logger, gate, { prefix: `${place}.`, waits });
  }

  /** The place of the next call of the model. */
  get nextPlace(): string {
    return this.placeOf(this.#calls);
  }

  /** The place of the call of this number. */
  placeOf(call: number): string {
    return `${this.#prefix}call[${call}]`;
  }

  /** Rejects when there may be no further call of the model. */
  async passGate(): Promise<void> {
    await this.committed();
    await this.gate?.pass(this);
  }

  /** True when no further call of the model may follow the last one. */
  async mustStop(): Promise<boolean> {
    return !this.nextCallIsRecorded && (await this.gate?.mustStop()) === true;
  }

  /** Resolves when every call that has ended is committed. */
  async committed(): Promise<void> {
    const { deferral } = this.recorder;
    if (deferral?.isDeferring !== true) return;
    try {
      await deferral.commit();
    } catch (reason) {
      throw this.leave(reason);
    }
  }

  /** True when the next call of the model and everything that it asked for is recorded already. */
  get nextIsRecorded(): boolean {
    const reply = this.#recordedReply(this.nextPlace);
    if (reply === undefined) return false;
    return toolCallIds(reply).every((_, index) => this.recorder.read(toolPlace(this.nextPlace, index)));
  }

  /** True when the next call of the model is recorded already, and perhaps not all that it asked for. */
  get nextCallIsRecorded(): boolean {
    return this.recorder.read(this.nextPlace) !== undefined;
  }

  /** How many calls of the model have ended. */
  get calls(): number {
    return this.#calls;
  }

  /** True when the call of this number was read from the record, and not made here. */
  isWalked(call: number): boolean {
    return this.#walked.has(call);
  }

  /** True when something of the current call of the model, or of the tools that it asked for, was done here. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** The messages that the next call reads with it: those that are recorded, else those that wait, once they are recorded. */
  async steered(waiting: () => Promise<readonly UIMessage[]>): Promise<readonly UIMessage[]> {
    const place = `${this.nextPlace}.steering`;
    const known = this.recorder.read(place);
    if (known !== undefined) return readSteering(known.output);
    if (this.#left !== undefined || this.nextCallIsRecorded) return [];
    const messages = await waiting();
    if (messages.length === 0) return [];
    this.checkMayBegin();
    await this.committed();
    const output = toJson(messages, "Messages that steer");
    const startedAt = this.recorder.now();
    try {
      await this.recorder.record({ place, call: { kind: "steering" }, output, startedAt, usage: undefined });
    } catch (reason) {
      // They are too long for a record: each gets a reply of its own.
      if (reason instanceof OutputLimitError) return [];
      throw this.leave(reason);
    }
    return messages;
  }

  /** The record of the next call of the model, which has then ended. `found` receives its model and its usage. */
  walkModelCall(
    prompt: string,
    found?: (model: string, usage: StepUsage | undefined) => void,
  ): RecordedReply | undefined {
    const place = this.nextPlace;
    const known = this.recorder.read(place);
    if (known?.output === undefined || known.call.kind !== "model") return undefined;
    this.#compare(place, known.call.prompt, prompt);
    found?.(known.call.model, known.usage);
    const reply = readReply(known.output);
    this.#walked.add(this.#calls);
    this.#ended(place, reply, false);
    return reply;
  }

  /** Records the next call of the model, which has then ended. */
  async recordModelCall(call: Omit<EndedCall, "place">, reply: RecordedReply): Promise<void> {
    const place = this.nextPlace;
    // A sub-agent's reply is followed by its tool's result.
    const isLast = this.#prefix === "" && toolCallIds(reply).length === 0;
    const deferral = isLast ? this.recorder.deferral : undefined;
    if (deferral === undefined) await this.#record({ ...call, place });
    else this.#defer({ ...call, place }, deferral);
    this.#ended(place, reply, true);
  }

  /** The error of the next call of the model, which its provider refused; leaves the loop when the call waits for it. */
  refused(error: unknown): unknown {
    const until = this.recorder.busyUntil?.(this.nextPlace, error);
    return until === undefined ? error : this.leave(new RetryWaitError(until), true);
  }

  /** An agent whose calls cannot be seen: the whole of it is one call. */
  async whole(
    agentId: string,
    run: () => Promise<Omit<EndedCall, "place" | "call" | "startedAt">>,
  ): Promise<RecordedCall> {
    const place = this.nextPlace;
    const call: CheckpointCall = { kind: "agent", agentId };
    const known = this.recorder.read(place);
    if (known === undefined) {
      this.checkMayBegin();
      await this.passGate();
    }
    const startedAt = this.recorder.now();
    const ended = known ?? { ...(await run()), call };
    if (known === undefined) await this.#record({ ...ended, place, startedAt });
    this.#calls++;
    return ended;
  }

  /** The call of a tool that the AI SDK is about to run, or runs. */
  toolCall(toolCallId: string, toolName: string): ToolCall {
    const { place, positions, tools } = this.#current;
    const left = positions.get(toolCallId);
    const known = tools.get(toolCallId);
    if (known !== undefined && !(known.hasRun && left !== undefined && left.length > 0)) return known;
    const position = left?.shift() ?? this.#unknownPosition(toolCallId);
    const call = new ToolCall(this, toolPlace(place, position), { kind: "tool", toolName, toolCallId });
    tools.set(toolCallId, call);
    return call;
  }

  /** The call of a tool that another tool makes, at a place below that one's; `onLeft` is called when it leaves the loop. */
  toolCallAt(
    place: string,
    called: Pick<ToolFacts, "toolName" | "toolCallId">,
    onLeft: (left: unknown) => void,
  ): ToolCall {
    return new ToolCall(this, place, { kind: "tool", ...called }, onLeft);
  }

  /** Throws, and leaves the loop, when nothing new may begin. */
  checkMayBegin(): void {
    // Tools beside one that waits are not held up by it.
    const isStopping = this.#left !== undefined && !isWaiting(this.#left.reason);
    if (this.#left !== undefined && (isStopping || this.signal.aborted)) throw this.#left;
    try {
      this.recorder.checkMayBegin();
    } catch (reason) {
      throw this.leave(reason, true);
    }
  }

  /**
   * Lets the tools that run end and be recorded, then stops the AI SDK's loop. The first reason counts, but any other
   * before a wait, and a failure before everything that has the loop walked again: a tool whose outcome could not be
   * recorded would run again.
   */
  leave(reason: unknown, isWalkedAgain = isWait(reason)): LoopLeftError {
    const known = this.#left;
    const replaces = known && (isWait(known.reason) || (known.isWalkedAgain && !isWalkedAgain));
    const left = known === undefined || replaces ? new LoopLeftError(reason, isWalkedAgain) : known;
    this.#left = left;
    if (!isWalkedAgain) this.recorder.failed(reason);
    if (known === undefined) void this.#stop();
    return left;
  }

  /** Work that is waited for before the loop is left. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#isLive = true;
    this.#inFlight.add(work);
    const settle = () => this.#inFlight.delete(work);
    work.then(settle, settle);
    return work;
  }

  /** Resolves when no tool runs any more, or after so many milliseconds. */
  async toolsEnded(milliseconds: number): Promise<void> {
    if (this.#inFlight.size > 0) await withTimeout(Promise.allSettled(this.#inFlight), milliseconds);
  }

  /** The outcomes that are recorded of the tools that the last call of the model asked for, by the ids of their calls. */
  get endedTools(): ReadonlyMap<string, JsonText> {
    const ended = new Map<string, JsonText>();
    for (const [toolCallId, { place }] of this.#current.tools) {
      const known = this.recorder.read(place);
      if (known !== undefined) ended.set(toolCallId, known.output);
    }
    return ended;
  }

  /** Records a tool call; a record that cannot be made leaves the loop. */
  recordToolCall(call: EndedCall): Promise<void> {
    return this.#record(call);
  }

  async #stop(): Promise<void> {
    do {
      await Promise.allSettled(this.#inFlight);
      // The AI SDK starts tools side by side, each after its callbacks.
      await turn();
    } while (this.#inFlight.size > 0);
    this.#controller.abort(this.#left);
  }

  #defer(call: EndedCall, deferral: CallDeferral): void {
    try {
      deferral.defer(call);
    } catch (reason) {
      throw this.leave(reason);
    }
  }

  async #record(call: EndedCall): Promise<void> {
    try {
      await this.recorder.record(call);
    } catch (reason) {
      throw this.leave(reason);
    }
  }

  #ended(place: string, reply: RecordedReply, isLive: boolean): void {
    this.#isLive = isLive;
    const positions = new Map<string, number[]>();
    for (const [index, id] of toolCallIds(reply).entries()) {
      const known = positions.get(id);
      if (known === undefined) positions.set(id, [index]);
      else known.push(index);
    }
    this.#current = { place, positions, tools: new Map() };
    this.#calls++;
  }

  #recordedReply(place: string): RecordedReply | undefined {
    const output: JsonText = this.recorder.read(place)?.output;
    return output === undefined ? undefined : readReply(output);
  }

  /** The record of a tool that no call of this loop asked for is found by its id. */
  #unknownPosition(toolCallId: string): number {
    const { place, tools } = this.#current;
    const taken = new Set(Array.from(tools.values(), (call) => call.place));
    const isOthers = (position: number) => {
      const known = this.recorder.read(toolPlace(place, position));
      if (known === undefined) return taken.has(toolPlace(place, position));
      return known.call.kind !== "tool" || known.call.toolCallId !== toolCallId;
    };
    let position = 0;
    while (isOthers(position)) position++;
    return position;
  }

  /** The record wins. That the model would be asked something else now is worth one line. */
  #compare(place: string, recorded: string, prompt: string): void {
    if (recorded === prompt || this.#warnedOfPrompt) return;
    this.#warnedOfPrompt = true;
    const fields = { stepPath: this.recorder.pathOf(place) };
    this.logger.warn(fields, "the prompt differs from the one whose reply is recorded; the record is used");
  }
}

/** The messages in a record that this loop wrote. */
function readSteering(output: JsonText): UIMessage[] {
  return JSON.parse(output ?? "[]");
}

function isWait(reason: unknown): boolean {
  return reason instanceof CallsWaitError;
}

function toolPlace(callPlace: string, position: number): string {
  return `${callPlace}.tool[${position}]`;
}
