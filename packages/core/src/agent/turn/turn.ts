// One turn: an agent answers one caller. It knows what to ask, who waits, and where the answer is kept.
import type { ModelMessage, UIMessage } from "ai";
import type { AndanteError } from "../../errors/index.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { Agent } from "../agent.ts";
import type { AnyAgent } from "../call/any-agent.ts";
import type { CallSettings } from "../call/call-settings.ts";
import type { Operation } from "../call/operation.ts";
import type { ObjectShape } from "../reply/ask-for-object.ts";
import { objectOutput, withSchemaInWords } from "../reply/ask-for-object.ts";

export interface TurnOptions {
  readonly agentId: string;
  readonly agent: AnyAgent;
  readonly operation: Operation;
  readonly settings: CallSettings;
  /** What the model is asked. */
  readonly messages: readonly ModelMessage[];
  /** The same as chat messages, as far as they were given so. */
  readonly history: readonly UIMessage[];
  /** The id of the message that the answer goes into. */
  readonly replyId: string;
  /** Where the answer is kept; undefined when nothing is. */
  readonly conversation:
    | { readonly store: ConversationStore; readonly conversationId: string; readonly userId: string | null }
    | undefined;
  readonly abort: (reason: AndanteError) => void;
  readonly detach: () => void;
  /** Called once, when the turn is over. */
  readonly leave: () => void;
}

export class Turn {
  readonly #options: TurnOptions;
  readonly #over = Promise.withResolvers<void>();

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  get agentId(): string {
    return this.#options.agentId;
  }
  get agent(): AnyAgent {
    return this.#options.agent;
  }
  get operation(): Operation {
    return this.#options.operation;
  }
  get messages(): readonly ModelMessage[] {
    return this.#options.messages;
  }
  get history(): readonly UIMessage[] {
    return this.#options.history;
  }
  get replyId(): string {
    return this.#options.replyId;
  }
  /** The message that the answer goes on with; undefined when it makes a new one. */
  get continued(): UIMessage | undefined {
    const last = this.history.at(-1);
    return last?.role === "assistant" ? last : undefined;
  }
  /** The id of the message that a chat client sees. */
  get messageId(): string {
    return this.continued?.id ?? this.replyId;
  }
  /** True when the answer is kept in a conversation. */
  get isKept(): boolean {
    return this.#options.conversation !== undefined;
  }
  /** Resolves when the turn is over. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Asks the agent for a whole answer. */
  generate(messages: readonly ModelMessage[] = this.messages, shape?: ObjectShape) {
    const { agent } = this.#options;
    return agent instanceof Agent
      ? agent.generate(this.#call(messages, shape))
      : agent.generate(this.#callOfOthers(messages, shape));
  }

  /** Asks the agent for an answer that streams. */
  stream(shape?: ObjectShape) {
    const { agent, messages } = this.#options;
    return agent instanceof Agent
      ? agent.stream(this.#call(messages, shape))
      : agent.stream(this.#callOfOthers(messages, shape));
  }

  /** The caller may leave from now on: the answer goes on without it. */
  detach(): void {
    this.#options.detach();
  }

  /** Nobody waits for the answer any more, or nobody may. */
  stop(reason: AndanteError): void {
    this.#options.abort(reason);
  }

  /** Commits the answer and what it used. Nothing of it is lost when only the usage is known. */
  async keep(message: UIMessage | undefined, partial: boolean): Promise<void> {
    const { conversation, operation } = this.#options;
    if (conversation === undefined) return;
    const { store, conversationId, userId } = conversation;
    const kept = message &&
      message.parts.length > 0 && { messageId: message.id, body: JSON.stringify(message), partial };
    const usage = operation.usage;
    if (kept === undefined && usage.calls === 0) return;
    await store.keep({ conversationId, userId, message: kept || null, usage, at: Date.now() });
  }

  /** Keeps what there is of an answer that broke off. It is over either way, so a store in trouble is only logged. */
  async keepPartial(message: UIMessage | undefined): Promise<void> {
    try {
      await this.keep(message, true);
    } catch (error) {
      this.operation.logger.error({ err: error }, "a partial answer could not be kept");
    }
  }

  end(): void {
    this.#options.leave();
    this.#over.resolve();
  }

  #call(messages: readonly ModelMessage[], shape: ObjectShape | undefined) {
    const { operation, settings } = this.#options;
    return {
      messages: [...messages],
      abortSignal: operation.signal,
      operation,
      settings,
      output: shape && objectOutput(shape),
      // What a conversation keeps is ours and needs no signature; a list that only the client keeps does.
      signed: !this.isKept,
    };
  }

  #callOfOthers(messages: readonly ModelMessage[], shape: ObjectShape | undefined) {
    const { operation, agentId } = this.#options;
    return {
      telemetry: operation.telemetry?.(agentId),
      messages: shape === undefined ? [...messages] : withSchemaInWords(messages, shape),
      abortSignal: operation.signal,
      onStepEnd: (step: { usage: Parameters<Operation["count"]>[0] }) => operation.count(step.usage),
    };
  }
}
