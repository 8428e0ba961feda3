// Conversations: list, read, rename and remove them.
import type { UIMessage } from "ai";
import { ConversationNotFoundError, InvalidOptionError } from "../../errors/index.ts";
import type { ConversationRow, ConversationStore, StoredMessage } from "../../store/conversation-store.ts";
import { isNumber, isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import { callerPageLength, cutPage } from "../../store/text-length.ts";
import type { Clock } from "../../values/clock.ts";
import { randomToken } from "../../values/uuid.ts";
import type { AgentUsage } from "../call/operation.ts";
import { messageOf } from "./kept-message.ts";

/** Limits a call to one user's conversations. Default: all users. */
export interface OwnerOption {
  /** Null: those without a user. */
  readonly userId?: string | null | undefined;
}

export interface ConversationView {
  readonly conversationId: string;
  /** The agent that it began with. */
  readonly agentId: string;
  readonly userId: string | null;
  readonly title: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Tokens and model calls of all its replies. */
  readonly usage: AgentUsage;
}

/** A message as chat clients expect it, with its time and whether it is partial. */
export type ConversationMessage = UIMessage & {
  readonly createdAt: string;
  /** True on a reply that was stopped or failed before its end. */
  readonly partial?: true;
};

export interface ConversationListOptions extends OwnerOption {
  readonly agentId?: string | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Default: 50; at most 500. */
  readonly limit?: number | undefined;
}

export interface ConversationPage {
  readonly conversations: readonly ConversationView[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface MessagePage {
  readonly messages: readonly ConversationMessage[];
  readonly nextCursor: string | null;
}

const maxTitleLength = 200;
const maxLimit = 500;

export class Conversations {
  readonly #store: ConversationStore;
  readonly #ready: Promise<void>;
  readonly #clock: Clock;
  readonly #removed: (conversationId: string) => void;

  /** `removed` is called for each conversation that is removed. */
  constructor(
    store: ConversationStore,
    clock: Clock,
    ready: Promise<void>,
    removed: (conversationId: string) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#ready = ready;
    this.#removed = removed;
  }

  /** The latest change first, a page at a time. */
  async list(options: ConversationListOptions = {}): Promise<ConversationPage> {
    const { userId, agentId, cursor, limit = 50 } = options;
    checkLimit(limit);
    const before = cursor === undefined ? undefined : pageCursor(cursor);
    await this.#ready;
    const length = callerPageLength;
    const rows = await this.#store.list({ userId, agentId, before, limit: limit + 1, length });
    const { page, more } = cutPage(rows, limit, length);
    const nextCursor = more === undefined ? null : writeCursor(more.updatedAt, more.conversationId);
    return { conversations: page.map(view), nextCursor };
  }

  async read(conversationId: string, { userId }: OwnerOption = {}): Promise<ConversationView> {
    await this.#ready;
    const row = await this.#store.read({ conversationId, userId });
    if (row === undefined) throw new ConversationNotFoundError({ conversationId });
    return view(row);
  }

  /** The messages, oldest first, a page at a time. */
  async messages(
    conversationId: string,
    options: OwnerOption & Pick<ConversationListOptions, "cursor" | "limit"> = {},
  ): Promise<MessagePage> {
    const { userId, cursor, limit = 50 } = options;
    checkLimit(limit);
    const after = cursor === undefined ? 0 : messageCursor(cursor);
    await this.#ready;
    const length = callerPageLength;
    const rows = await this.#store.messages({ conversationId, userId, after, limit: limit + 1, length });
    if (rows === undefined) throw new ConversationNotFoundError({ conversationId });
    const { page, more } = cutPage(rows, limit, length);
    const nextCursor = more === undefined ? null : writeCursor(more.sequence);
    return { messages: page.map(viewMessage), nextCursor };
  }

  async rename(
    conversationId: string,
    title: string,
    { userId }: OwnerOption = {},
  ): Promise<ConversationView> {
    if (typeof title !== "string" || title.trim() === "" || title.length > maxTitleLength) {
      throw new InvalidOptionError({
        option: "title",
        problem: `expected a string of 1 to ${maxTitleLength} characters`,
      });
    }
    await this.#ready;
    const change = { key: randomToken(), conversationId, userId, title, at: this.#clock.now() };
    if (!(await this.#store.rename(change))) {
      throw new ConversationNotFoundError({ conversationId });
    }
    return this.read(conversationId, { userId });
  }

  /** Removes it with its messages. A reply that runs in it is stopped. */
  async remove(conversationId: string, { userId }: OwnerOption = {}): Promise<void> {
    await this.#ready;
    if (!(await this.#store.remove({ key: randomToken(), conversationId, userId }))) {
      throw new ConversationNotFoundError({ conversationId });
    }
    this.#removed(conversationId);
  }
}

function view({ createdAt, updatedAt, ...row }: ConversationRow): ConversationView {
  return {
    ...row,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

function viewMessage(row: StoredMessage): ConversationMessage {
  const createdAt = new Date(row.createdAt).toISOString();
  return { ...messageOf(row), createdAt, ...(row.partial && { partial: true as const }) };
}

function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxLimit) return;
  throw new InvalidOptionError({ option: "limit", problem: `expected a whole number from 1 to ${maxLimit}` });
}

function pageCursor(cursor: string): { updatedAt: number; conversationId: string } {
  const [updatedAt, conversationId] = readCursor(cursor, isTimeAndId);
  return { updatedAt, conversationId };
}

function messageCursor(cursor: string): number {
  return readCursor(cursor, isNumber)[0];
}
