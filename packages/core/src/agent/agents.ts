// The registered agents and their answers: what a host and the HTTP layer call.
import type { UIMessageChunk } from "ai";
import {
  AgentNotFoundError,
  type AndanteError,
  InvalidOptionError,
  ReplyStoppedError,
} from "../errors/index.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { ConversationStore } from "../store/conversation-store.ts";
import type { AnyAgent } from "./call/any-agent.ts";
import { toAgentError } from "./call/model-failure.ts";
import type { OwnerOption } from "./conversation/conversations.ts";
import { type AgentDetail, type AgentSummary, describeAgent } from "./describe-agent.ts";
import { replay } from "./reply/replay-message.ts";
import { RunningReply } from "./reply/running-reply.ts";
import { messageOfReply, type TextReply, viewReply } from "./reply/text-reply.ts";
import { boundedValidator } from "./schema/bounded-validator.ts";
import { checkJsonSchema } from "./schema/check-schema.ts";
import { type ObjectPart, objectReply, streamObject } from "./turn/object-reply.ts";
import { runChat } from "./turn/run-chat.ts";
import {
  type AgentCallOptions,
  type OpenOptions,
  type OperationTelemetry,
  TurnOpener,
} from "./turn/start-turn.ts";
import { type StreamPart, streamReply } from "./turn/stream-reply.ts";
import type { Turn } from "./turn/turn.ts";

export interface ChatOptions extends AgentCallOptions {
  /** The answer goes on when its reader leaves, and can be attached to. Default: true in a conversation that is kept. */
  readonly resumable?: boolean | undefined;
  /** Answer again a message that has been answered. Default: false. */
  readonly again?: boolean | undefined;
}

export interface AgentsOptions {
  readonly agents: ReadonlyMap<string, AnyAgent>;
  readonly conversations: ConversationStore;
  readonly logger: Logger;
  readonly telemetry?: OperationTelemetry | undefined;
  readonly ready: Promise<void>;
}

interface RunningChat {
  readonly turn: Turn;
  readonly answer: RunningReply;
  readonly userId: string | null;
}

export class Agents {
  readonly #agents: ReadonlyMap<string, AnyAgent>;
  readonly #opener: TurnOpener;
  /** The chats that can be attached to, by conversation. */
  readonly #chats = new Map<string, RunningChat>();

  constructor(options: AgentsOptions) {
    this.#agents = options.agents;
    this.#opener = new TurnOpener(options);
  }

  /** The registered agents, in order of registration. */
  async list(): Promise<readonly AgentSummary[]> {
    const details = await Promise.all([...this.#agents.keys()].map((id) => this.read(id)));
    return details.map(({ instructions: _, ...summary }) => summary);
  }

  async read(agentId: string): Promise<AgentDetail> {
    const description = await describeAgent(agentId, this.#agent(agentId));
    return { ...description, status: this.#opener.isRunning(agentId) ? "running" : "idle" };
  }

  /** Refuses an id that is not registered. */
  check(agentId: string): void {
    this.#agent(agentId);
  }

  /** A whole answer as text. */
  async text(agentId: string, input: unknown, options: AgentCallOptions = {}): Promise<TextReply> {
    const turn = await this.#open(agentId, input, options);
    return this.#whole(turn, async () => {
      const result = await turn.generate();
      await turn.keep(messageOfReply(turn.replyId, result), false);
      return viewReply(result, turn.operation.usage);
    });
  }

  /** An object that fits the JSON Schema. */
  async object(
    agentId: string,
    input: unknown,
    schema: unknown,
    options: AgentCallOptions = {},
  ): Promise<unknown> {
    this.#agent(agentId);
    const shape = shapeOf(schema);
    const turn = await this.#open(agentId, input, options);
    return this.#whole(turn, () => objectReply(turn, shape));
  }

  /** Every part of an answer as it comes. A reader that leaves stops it. */
  async stream(
    agentId: string,
    input: unknown,
    options: AgentCallOptions = {},
  ): Promise<AsyncIterableIterator<StreamPart>> {
    return streamReply(await this.#open(agentId, input, options));
  }

  /** An object as it grows. A reader that leaves stops it. */
  async streamObject(
    agentId: string,
    input: unknown,
    schema: unknown,
    options: AgentCallOptions = {},
  ): Promise<AsyncIterableIterator<ObjectPart>> {
    this.#agent(agentId);
    const shape = shapeOf(schema);
    return streamObject(await this.#open(agentId, input, options), shape);
  }

  /** An answer in the AI SDK's UI message stream. */
  async chat(
    agentId: string,
    input: unknown,
    options: ChatOptions = {},
  ): Promise<AsyncIterableIterator<UIMessageChunk>> {
    const { resumable, ...rest } = options;
    const { conversationId, userId = null } = options;
    const arrive = () => this.#stopUnread(conversationId, userId);
    const turn = await this.#open(agentId, input, { ...rest, arrive });
    if (resumable === true && !turn.isKept) {
      turn.end();
      throw new InvalidOptionError({ option: "resumable", problem: "only an answer in a conversation is" });
    }
    const answer = new RunningReply();
    const attached = conversationId !== undefined && turn.isKept && resumable !== false;
    const stop = () => turn.stop(new ReplyStoppedError());
    const reader = answer.read(attached ? undefined : stop);
    const running = runChat(turn, answer);
    if (attached) {
      turn.detach();
      const chat = { turn, answer, userId };
      this.#chats.set(conversationId, chat);
      running.then(() => {
        if (this.#chats.get(conversationId) === chat) this.#chats.delete(conversationId);
      });
    }
    return reader;
  }

  /** The answer that runs in a conversation, from its beginning; undefined when none does. */
  attach(
    agentId: string,
    conversationId: string,
    owner: OwnerOption = {},
  ): AsyncIterableIterator<UIMessageChunk> | undefined {
    const chat = this.#chat(agentId, conversationId, owner);
    if (!chat?.answer.isWhole) return undefined;
    const { continued } = chat.turn;
    const chunks = chat.answer.read();
    return continued === undefined ? chunks : replay(continued, chunks);
  }

  /** Stops the answer that runs in a conversation and keeps what there is of it. Answers whether one ran. */
  async stop(agentId: string, conversationId: string, owner: OwnerOption = {}): Promise<boolean> {
    const chat = this.#chat(agentId, conversationId, owner);
    if (chat === undefined) return false;
    chat.turn.stop(new ReplyStoppedError());
    await chat.turn.over;
    return true;
  }

  /** A conversation is gone: nothing may be answered in it any more. */
  forget(conversationId: string): void {
    this.#chats.get(conversationId)?.turn.stop(new ReplyStoppedError());
  }

  /** Takes nothing new; answers under way get the grace period, then they are aborted. */
  close(grace: number): Promise<void> {
    return this.#opener.close(grace);
  }

  #agent(agentId: string): AnyAgent {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) throw new AgentNotFoundError({ agentId });
    return agent;
  }

  #open(agentId: string, input: unknown, options: OpenOptions): Promise<Turn> {
    return this.#opener.open(agentId, this.#agent(agentId), input, options);
  }

  /** Waits for a whole answer; what goes wrong is kept and told. */
  async #whole<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const error: AndanteError = toAgentError(thrown, turn.operation.signal);
      await turn.keepPartial(undefined);
      throw error;
    } finally {
      turn.end();
    }
  }

  #chat(agentId: string, conversationId: string, { userId }: OwnerOption): RunningChat | undefined {
    this.#agent(agentId);
    const chat = this.#chats.get(conversationId);
    if (chat === undefined || chat.turn.agentId !== agentId) return undefined;
    return userId === undefined || chat.userId === userId ? chat : undefined;
  }

  /** Whoever stopped reading an answer and asks the next thing does not want to wait for it. */
  #stopUnread(conversationId: string | undefined, userId: string | null): void {
    const chat = conversationId === undefined ? undefined : this.#chats.get(conversationId);
    if (chat === undefined || chat.userId !== userId) return;
    // The news that a reader has left may come after the next question.
    chat.answer.whenUnread(() => chat.turn.stop(new ReplyStoppedError()));
  }
}

function shapeOf(schema: unknown) {
  const checked = checkJsonSchema(schema);
  const validate = boundedValidator(checked);
  return {
    schema: checked,
    check: (value: unknown) => {
      const result = validate(value);
      return result.ok ? { ok: true as const, value } : result;
    },
  };
}
