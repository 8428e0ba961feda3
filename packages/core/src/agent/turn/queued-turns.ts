// The queues of conversations: shows the messages that wait, takes them back, and begins those whose processes are gone.
import { randomUUID } from "node:crypto";
import { QueuedMessageNotFoundError } from "../../errors/index.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { ConversationStore, LeftQueue, QueuedMessage } from "../../store/conversation-store.ts";
import type { Clock } from "../../values/clock.ts";
import { unlessAborted } from "../../values/unless-aborted.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { ActiveTurns } from "./active-turns.ts";
import { isPassing, type QueuedRequest, readRequest } from "./queued-request.ts";

/** The first message of a queue, whose process is gone. */
export interface LeftMessage extends QueuedMessage, Pick<LeftQueue, "conversationId" | "userId"> {
  readonly agent: CallableAgent;
  readonly asked: QueuedRequest;
}

export interface QueuedTurnsOptions {
  readonly conversations: ConversationStore;
  readonly turns: ActiveTurns;
  readonly agents: ReadonlyMap<string, CallableAgent>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether other processes share the store. */
  readonly isShared: boolean;
  /** Begins the turn of a message. Resolves when it is over. */
  begin(message: LeftMessage): Promise<void>;
}

/** A message of one conversation. */
export interface WhichMessage {
  readonly agentId: string;
  readonly conversationId: string;
  readonly userId?: string | null | undefined;
  readonly messageId: string;
}

/** Queues that one look begins. */
const begunAtOnce = 100;

/** Milliseconds after which the first message of a free conversation counts as left, where its process may still live. */
const grace = 1000;

/** Milliseconds until a turn looks again whether the messages before its own have begun. */
const lookAgain = 100;

/** Processes that are known to be gone. */
const maxGone = 1000;

export class QueuedTurns {
  /** Names this process in the requests of its messages. */
  readonly process = randomUUID();
  readonly #options: QueuedTurnsOptions;
  /** The turns of left messages that run here, by conversation. */
  readonly #running = new Map<string, Promise<void>>();
  /** Since when the first message of a free conversation is known, by conversation. */
  #seen = new Map<string, { readonly messageId: string; readonly since: number }>();
  readonly #gone = new Set<string>();

  /** Conversations with messages whose callers have left. */
  readonly #released = new Set<string>();

  constructor(options: QueuedTurnsOptions) {
    this.#options = options;
    options.turns.onFree((conversationId) => this.#lookWhenReleased(conversationId));
  }

  /** The caller of a message has left, and the message waits in the store alone. */
  release(conversationId: string): void {
    this.#released.add(conversationId);
    if (!this.#options.turns.isBusy(conversationId)) this.#lookWhenReleased(conversationId);
  }

  /** Where another process replies, the next round of recovery looks. */
  #lookWhenReleased(conversationId: string): void {
    if (this.#released.delete(conversationId)) this.look().catch(() => undefined);
  }

  /** Begins the first messages of queues that are left. Does not wait for their replies. */
  async look(): Promise<void> {
    const { conversations, agents, turns } = this.#options;
    const agentIds = [...agents.keys()];
    const found = await conversations.leftQueues({ agentIds, limit: begunAtOnce });
    const before = this.#seen;
    this.#seen = new Map();
    for (const { conversationId, messageId, userId } of found) {
      const known = before.get(conversationId);
      const since = known?.messageId === messageId ? known.since : performance.now();
      this.#seen.set(conversationId, { messageId, since });
      // Turns that wait here begin by themselves.
      if (!turns.isBusy(conversationId)) void this.#begin({ conversationId, userId });
    }
  }

  /** Messages are queued before one whose turn is next here: resolves when it may try again. */
  async letPass(where: Pick<LeftMessage, "conversationId" | "userId">, signal: AbortSignal): Promise<void> {
    if (await this.#begin(where)) return;
    const never = new Promise<void>(() => undefined);
    await withTimeout(unlessAborted(never, signal), lookAgain);
  }

  /** The messages of one agent that wait in a conversation. */
  async list({ agentId, ...which }: Omit<WhichMessage, "messageId">): Promise<readonly QueuedMessage[]> {
    const queue = await this.#options.conversations.queue(which);
    return queue?.filter((message) => message.agentId === agentId) ?? [];
  }

  /** Takes a message back: it is removed, and the caller that waits for its reply gets an error. */
  async withdraw({ agentId, ...which }: WhichMessage): Promise<void> {
    const { conversations, turns } = this.#options;
    const { conversationId, messageId } = which;
    const queue = await this.list({ agentId, ...which });
    const isThere = queue.some((each) => each.messageId === messageId);
    if (!isThere || !(await conversations.leaveQueue({ key: randomUUID(), ...which })))
      throw new QueuedMessageNotFoundError({ messageId });
    turns.withdraw(conversationId, messageId);
  }

  /** False where there is none, or the process of the first message may still begin it. */
  async #begin(where: Pick<LeftMessage, "conversationId" | "userId">): Promise<boolean> {
    const { conversationId } = where;
    let running = this.#running.get(conversationId);
    if (running === undefined) {
      const message = await this.#left(where).catch(() => undefined);
      if (message === undefined) return false;
      running = this.#running.get(conversationId) ?? this.#run(message);
    }
    await running;
    return true;
  }

  async #left(where: Pick<LeftMessage, "conversationId" | "userId">): Promise<LeftMessage | undefined> {
    const { conversations, agents } = this.#options;
    const [first] = (await conversations.queue(where)) ?? [];
    const agent = first && agents.get(first.agentId);
    if (first === undefined || agent === undefined) return undefined;
    const asked = readRequest(first);
    return this.#isLeft(where.conversationId, first.messageId, asked)
      ? { ...where, ...first, agent, asked }
      : undefined;
  }

  #isLeft(conversationId: string, messageId: string, { process }: QueuedRequest): boolean {
    // Where callers of this process wait, their turns are in the line.
    if (!this.#options.isShared || process === this.process || this.#gone.has(process)) return true;
    const now = performance.now();
    const known = this.#seen.get(conversationId);
    if (known?.messageId !== messageId) {
      this.#seen.set(conversationId, { messageId, since: now });
      return false;
    }
    if (now - known.since < grace) return false;
    if (this.#gone.size >= maxGone) this.#gone.clear();
    this.#gone.add(process);
    return true;
  }

  #run(message: LeftMessage): Promise<void> {
    const { conversationId } = message;
    const running = this.#reply(message).finally(() => {
      this.#running.delete(conversationId);
      // The next one of the queue. A store in trouble is asked again by the next round of recovery.
      this.look().catch(() => undefined);
    });
    this.#running.set(conversationId, running);
    return running;
  }

  /** Never rejects. */
  async #reply(message: LeftMessage): Promise<void> {
    const { agent, conversationId, userId, messageId } = message;
    const { clock, logger, begin } = this.#options;
    const about = { agentId: agent.id, conversationId, messageId, ...(userId !== null && { userId }) };
    if (clock.now() - message.createdAt > agent.recoverWithin) {
      logger.warn(about, "a queued message is too old to be replied to");
      return this.#drop(message);
    }
    logger.info(about, "beginning the reply to a queued message");
    try {
      await begin(message);
    } catch (err) {
      if (isPassing(err)) return;
      logger.warn({ ...about, err }, "a queued message has no reply");
      await this.#drop(message);
    }
  }

  /** The message stays without a reply. */
  async #drop({ conversationId, messageId }: LeftMessage): Promise<void> {
    const which = { key: randomUUID(), conversationId, messageId, keep: true };
    await this.#options.conversations.leaveQueue(which).catch(() => undefined);
  }
}
