// One turn: an agent replies to one caller. It has the prompt, the readers, and the place where the reply is kept.
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import { ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import type { KeptSummary } from "../../store/conversation-store.ts";
import type { Clock } from "../../values/clock.ts";
import type { AnyOutput, AnyReply } from "../call/any-agent.ts";
import type { CallSettings } from "../call/call-settings.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { MessageMetadata } from "../call/message-options.ts";
import { objectOutput } from "../call/object-output.ts";
import type { Operation } from "../call/operation.ts";
import type { DueSummary } from "../conversation/compaction.ts";
import { isWaitPart, waitsForTools } from "../messages/wait-part.ts";
import { replay } from "../reply/replay-message.ts";
import type { RunningReply } from "../reply/running-reply.ts";
import { type Part, replyFailure, safeParts } from "../reply/stream-parts.ts";
import type { TextReply } from "../reply/text-reply.ts";
import type { ObjectShape } from "../schema/object-shape.ts";
import type { ActiveTurn } from "./active-turn.ts";
import type { ClientApprovals, RequestedCall } from "./client-approvals.ts";
import type { KeptTurn } from "./kept-turn.ts";
import { makeSummary } from "./make-summary.ts";
import { waitsOf, withDeadlines } from "./waits-of-message.ts";

export interface TurnOptions {
  readonly agent: CallableAgent;
  readonly operation: Operation;
  readonly settings: CallSettings;
  /** The agent's tools for this reply. */
  readonly tools: ToolSet;
  /** The prompt. */
  readonly messages: readonly ModelMessage[];
  /** The same as chat messages, as far as they are known so. */
  readonly history: readonly UIMessage[];
  /** The id of the message that the reply becomes, or continues. */
  readonly messageId: string;
  /** The turn of the conversation that keeps the reply; undefined when none does. */
  readonly conversation: KeptTurn | undefined;
  /** A summary of older messages, to be made beside the reply. Default: none is due. */
  readonly summary?: DueSummary | undefined;
  /** Called with the kept message; undefined when that is not needed. */
  readonly completed?: ((message: UIMessage) => void) | undefined;
  readonly active: ActiveTurn;
  readonly approvals: ClientApprovals;
  readonly clock: Clock;
}

/** The message of a reply, as far as it came. */
type PartialMessage = () => UIMessage | undefined | Promise<UIMessage | undefined>;

/** Milliseconds that tools get to end once their reply was stopped. */
const toolGrace = 1000;

export class Turn {
  readonly operation: Operation;
  readonly messages: readonly ModelMessage[];
  readonly history: readonly UIMessage[];
  readonly messageId: string;
  readonly #options: TurnOptions;
  #complete = false;
  /** Aborted when the reply has ended. */
  readonly #ended = new AbortController();
  #summary: Promise<KeptSummary | undefined> | undefined;

  constructor(options: TurnOptions) {
    this.operation = options.operation;
    this.messages = options.messages;
    this.history = options.history;
    this.messageId = options.messageId;
    this.#options = options;
  }

  get tools(): ToolSet {
    return this.#options.tools;
  }
  get messageMetadata(): MessageMetadata | undefined {
    return this.#options.agent.messageMetadata;
  }
  /** The shape that the agent gives to every reply; undefined for text. */
  get output(): AnyOutput | undefined {
    return this.#options.agent.output;
  }
  /** Milliseconds since 1970. */
  get now(): number {
    return this.#options.clock.now();
  }
  /** True when the reply is kept in a conversation. */
  get isKept(): boolean {
    return this.#options.conversation !== undefined;
  }

  /** True while the last call of its model is not committed: the end of the turn is. */
  get isUncommitted(): boolean {
    return this.operation.loop?.recorder.deferral?.isDeferring === true;
  }

  /** Asks the agent for a complete reply. */
  generate(messages: readonly ModelMessage[] = this.messages, shape?: ObjectShape): PromiseLike<AnyReply> {
    return this.#options.agent.generate(this.#request(messages, shape));
  }

  /** Asks the agent for a reply part by part. */
  parts(shape?: ObjectShape, messages: readonly ModelMessage[] = this.messages): AsyncIterableIterator<Part> {
    const { agent, operation, approvals } = this.#options;
    // Messages of a kept conversation are ours and need no signature; a list that only the client keeps does.
    const sign = this.isKept ? undefined : (call: RequestedCall) => approvals.sign(agent, operation, call);
    return safeParts(() => agent.parts(this.#request(messages, shape)), operation, sign);
  }

  /** The caller may leave from now on without stopping the reply, and others may read it from its beginning. */
  allowAttach(reply: RunningReply): void {
    const continued = continuedMessage(this.history);
    this.#options.active.allowAttach(reply, () =>
      continued === undefined ? reply.read() : replay(continued, reply.read()),
    );
  }

  /** Callers that send the same message again in the conversation get this text. */
  shareText(reply: Promise<TextReply>): void {
    // Readers handle its rejection, if there are any.
    reply.catch(() => undefined);
    this.#options.active.shareText(reply);
  }

  /** The reply has no reader any more. */
  stop(): void {
    this.#options.active.stop();
  }

  /**
   * Does the work of a complete reply and ends the turn; its error goes to the caller, and `partial` is
   * the message that is kept then.
   */
  async run<T>(work: () => Promise<T>, partial?: () => Promise<UIMessage | undefined>): Promise<T> {
    if (partial !== undefined) this.endsEarlyWith(partial);
    try {
      return await work();
    } catch (thrown) {
      throw replyFailure(thrown, this.operation);
    } finally {
      await this.end(partial);
    }
  }

  /** The message that is kept when the turn is ended from outside. */
  endsEarlyWith(partial: PartialMessage): void {
    this.#options.conversation?.endsEarlyWith(async () => this.#kept(await partial(), true));
  }

  /** Commits the complete reply before the caller sees its end, so the conversation already holds it. */
  async complete(message: UIMessage | undefined): Promise<void> {
    await this.operation.loop?.steering?.settled;
    if (waitsForTools(this.operation)) return this.#leaveForWait(message);
    await this.#keep(message, false);
    this.#complete = true;
    if (message !== undefined) this.#options.completed?.(message);
  }

  /** Keeps the message that it continues as it is: calls of it still wait for a decision. */
  async leaveWaiting(): Promise<void> {
    await this.complete(continuedMessage(this.history));
    await this.end();
  }

  /** Ends the turn. A reply that is not complete is kept as far as it came. Never throws. */
  async end(partial?: PartialMessage): Promise<void> {
    try {
      if (!this.#complete) await this.#keepPartial(partial);
    } catch (error) {
      // The turn is over here either way; one that another process continues, or was removed, is not lost.
      const expected = error instanceof ShuttingDownError || error instanceof ReplyStoppedError;
      const level = expected ? "debug" : "error";
      this.operation.logger[level]({ err: error }, "a partial reply could not be kept");
    } finally {
      this.#ended.abort();
      this.#options.active.end();
    }
  }

  /** Keeps the reply so far: a tool of it waits, and the turn continues when the wait has ended. */
  async #leaveForWait(message: UIMessage | undefined): Promise<void> {
    const { conversation, operation } = this.#options;
    // One that continues a message begins again with the message as it was: it shows the progress once it is complete.
    const continued = continuedMessage(this.history);
    const shown = continued === undefined ? message : withWaits(continued, message);
    this.#complete = true;
    await conversation?.leaveWaiting(this.#kept(shown, false), operation.loop?.left?.reason);
  }

  async #keepPartial(partial: PartialMessage | undefined): Promise<void> {
    await this.operation.loop?.steering?.settled.catch(() => undefined);
    if (waitsForTools(this.operation)) return this.#leaveForWait(await partial?.());
    const { loop, signal } = this.operation;
    // A tool may not notice that the reply was stopped: its outcome is recorded.
    const isLeft = signal.reason instanceof ShuttingDownError;
    if (this.isKept && !isLeft) await loop?.toolsEnded(toolGrace);
    await this.#keep(await partial?.(), true);
  }

  /** Without a message only the usage is kept. */
  async #keep(message: UIMessage | undefined, partial: boolean): Promise<void> {
    const { conversation, agent, operation } = this.#options;
    if (conversation === undefined) return;
    const limited = message && withDeadlines(message, operation.deadlines, this.now);
    const kept = this.#kept(limited, partial);
    // The usage of recorded calls is counted already.
    const usage = agent.recordsCalls ? operation.unrecorded : operation.usage;
    const waits = limited === undefined || kept === null ? [] : await waitsOf(limited, this.tools);
    // A reply that breaks off does not wait for it: the next one makes it.
    const summary = partial ? undefined : await this.#summary;
    await conversation.finish(kept, { usage, waits, summary });
  }

  /** The message as a conversation keeps it; null when there is nothing to keep. */
  #kept(message: UIMessage | undefined, partial: boolean) {
    if (message === undefined || message.parts.length === 0 || this.operation.isRefused) return null;
    return { messageId: message.id, body: JSON.stringify(message), partial };
  }

  #request(messages: readonly ModelMessage[], shape: ObjectShape | undefined) {
    const { operation, settings, tools } = this.#options;
    this.#summarize();
    return {
      messages: [...messages],
      operation,
      abortSignal: operation.signal,
      settings,
      tools,
      output: shape && objectOutput(shape.schema),
    };
  }

  /** Begins the summary that is due with the first call of the model. */
  #summarize(): void {
    const { summary, agent, operation, tools } = this.#options;
    if (summary === undefined || this.#summary !== undefined) return;
    const signal = AbortSignal.any([operation.signal, this.#ended.signal]);
    this.#summary = makeSummary({ agent, operation, tools, signal }, summary);
  }
}

/** The message with the parts that say for what its reply waits. */
function withWaits(message: UIMessage, reply: UIMessage | undefined): UIMessage {
  return { ...message, parts: [...message.parts, ...(reply?.parts.filter(isWaitPart) ?? [])] };
}

/** The assistant's message that the reply continues, such as after an approval; undefined when it makes a new one. */
export function continuedMessage(history: readonly UIMessage[]): UIMessage | undefined {
  const last = history.at(-1);
  return last?.role === "assistant" ? last : undefined;
}
