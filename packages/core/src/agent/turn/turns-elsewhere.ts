// Replies that other processes make. A reader in this process gets one once it is kept: its text as it grows is seen only
// where it is made.
import type { UIMessageChunk } from "ai";
import { ReplyStoppedError } from "../../errors/index.ts";
import type { ConversationStore, StoredMessage } from "../../store/conversation-store.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import type { KeptMessage } from "../conversation/compaction.ts";
import { messageOf } from "../conversation/kept-message.ts";
import type { SharedReply } from "./active-turn.ts";
import { readTurnInput } from "./kept-turn.ts";
import type { LiveTurn, OtherTurns } from "./turn-host.ts";

/** Milliseconds until a process is asked again to stop a turn. */
const askAgain = 1000;

/** The newest messages among which a kept reply is looked for. */
const keptAmong = 50;

export interface WhichTurn {
  readonly agentId: string;
  readonly conversationId: string;
  /** Default: the user of the turn. */
  readonly userId?: string | null | undefined;
}

export class TurnsElsewhere {
  readonly #others: OtherTurns;
  readonly #conversations: ConversationStore;

  constructor(others: OtherTurns, conversations: ConversationStore) {
    this.#others = others;
    this.#conversations = conversations;
  }

  /** The turn that runs in a conversation, if it is this agent's and this user's. */
  async find({ agentId, conversationId, userId }: WhichTurn): Promise<LiveTurn | undefined> {
    const live = await this.#others.running(conversationId);
    const same = live?.agentId === agentId && (userId === undefined || live.userId === userId);
    return same ? live : undefined;
  }

  /** The chat that replies to this message of the user. */
  async replyTo(messageId: string, which: WhichTurn): Promise<LiveTurn | undefined> {
    const live = await this.find(which);
    if (live === undefined) return undefined;
    const { mode, replyTo } = readTurnInput(live.input);
    return mode === "chat" && replyTo === messageId ? live : undefined;
  }

  /** Resolves when it has ended, wherever it ran. */
  ended({ executionId }: Pick<LiveTurn, "executionId">, signal: AbortSignal): Promise<void> {
    return this.#others.ended(executionId, signal);
  }

  /** Resolves when it has stopped, which the process that runs it may have to be asked for more than once. */
  async stop({ executionId }: Pick<LiveTurn, "executionId">): Promise<void> {
    const waiting = new AbortController();
    const ended = this.#others.ended(executionId, waiting.signal);
    try {
      do this.#others.askToStop(executionId);
      while ((await withTimeout(ended, askAgain)).timedOut);
    } finally {
      waiting.abort();
    }
  }

  /** The reply as a stream: its parts come together once it is kept. */
  read(live: LiveTurn, conversationId: string): AsyncIterableIterator<UIMessageChunk> {
    const left = new AbortController();
    const chunks = this.#chunks(live, conversationId, left.signal);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => chunks.next(),
      return: async () => {
        left.abort();
        return { done: true, value: undefined };
      },
    };
  }

  async *#chunks(
    { executionId, userId, input }: LiveTurn,
    conversationId: string,
    left: AbortSignal,
  ): AsyncGenerator<UIMessageChunk, undefined> {
    const { messageId } = readTurnInput(input);
    yield { type: "start", messageId };
    await this.#others.ended(executionId, left).catch((error: unknown) => {
      if (!left.aborted) throw error;
    });
    const query = { conversationId, userId, upTo: messageId, limit: 1 };
    const [kept] = left.aborted ? [] : ((await this.#conversations.recent(query)) ?? []);
    if (kept?.messageId !== messageId) {
      if (!left.aborted) yield { type: "error", errorText: new ReplyStoppedError().message };
      return undefined;
    }
    yield* this.#rest(kept);
    return undefined;
  }

  /** The kept reply to a message, or the one that the message has steered. */
  async keptReply(
    messageId: string,
    which: { readonly conversationId: string; readonly userId: string | null },
  ): Promise<SharedReply | undefined> {
    const recent = await this.#conversations.recent({ ...which, limit: keptAmong });
    const isIt = (part: KeptMessage["parts"][number]) =>
      part.type === "steering-message" && part.id === messageId;
    const at = recent?.findIndex((message) => message.messageId === messageId) ?? -1;
    const next = at < 0 ? undefined : recent?.[at + 1];
    const reply =
      next && messageOf(next).role === "assistant"
        ? next
        : recent?.findLast((message) => messageOf(message).parts.some(isIt));
    return reply && { mode: "chat", read: () => this.#kept(reply) };
  }

  async *#kept(reply: StoredMessage): AsyncGenerator<UIMessageChunk, undefined> {
    yield { type: "start", messageId: reply.messageId };
    yield* this.#rest(reply);
    return undefined;
  }

  async *#rest(kept: StoredMessage): AsyncGenerator<UIMessageChunk, undefined> {
    // It brings the AI SDK with it.
    const { chunksOf } = await import("../reply/replay-message.ts");
    yield* chunksOf(messageOf(kept));
    yield { type: kept.partial ? "abort" : "finish" };
    return undefined;
  }
}
