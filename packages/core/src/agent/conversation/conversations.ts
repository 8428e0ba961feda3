// Conversations: list, read, change, fork, export and remove them.
import { createHash, randomUUID } from "node:crypto";
import type { UIMessage } from "ai";
import {
  ConversationConflictError,
  ConversationNotFoundError,
  ConversationTooLongError,
  InvalidOptionError,
  SummaryNotFoundError,
} from "../../errors/index.ts";
import type {
  ConversationRow,
  ConversationStore,
  ForkConversation,
  ForkResult,
  StoredMessage,
} from "../../store/conversation-store.ts";
import { checkLimit, isNumber, isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import { callerPageLength, cutPage } from "../../store/text-length.ts";
import { checkUrlId, problemOfId } from "../../values/check-id.ts";
import { optionJson } from "../../values/check-options.ts";
import type { Clock } from "../../values/clock.ts";
import { CopyQueue } from "../../values/copy-queue.ts";
import { isRecord, parseObject } from "../../values/fields.ts";
import { uuid } from "../../values/uuid.ts";
import type { SummaryRange } from "../call/message-options.ts";
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
  /** The metadata of the host; `{}` when there is none. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Tokens and model calls of all its replies. */
  readonly usage: AgentUsage;
}

/** A message as chat clients expect it, with its time and whether it is partial. */
export type ConversationMessage = UIMessage & {
  readonly createdAt: string;
  /** The messages that this one, a system message, stands for: the model sees it in their place. */
  readonly summary?: SummaryRange;
  /** True on a reply that was stopped or failed before its end. */
  readonly partial?: true;
};

export interface ConversationListOptions extends OwnerOption {
  readonly agentId?: string | undefined;
  /** Those whose title contains this, with the letters A to Z in either case. Default: all. */
  readonly title?: string | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Default: 50; at most 500. */
  readonly limit?: number | undefined;
}

export interface MessageListOptions extends OwnerOption {
  readonly cursor?: string | undefined;
  /** Default: 50; at most 500. */
  readonly limit?: number | undefined;
  /** Which messages come first. Default: the oldest. */
  readonly order?: "oldest" | "newest" | undefined;
}

/** Only the given fields are changed. */
export interface ConversationChange {
  readonly title?: string | undefined;
  /** Replaces the metadata: a JSON object of at most 16 000 characters. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface ForkOptions extends OwnerOption {
  /** The id of the new conversation. Default: a new one. */
  readonly forkId?: string | undefined;
  /** The last message that it takes over. Default: the last one. */
  readonly upTo?: string | undefined;
  /** The user whose share of copies it takes. Default: `userId`. */
  readonly callerId?: string | undefined;
  /** Ends the copy between two of its pages; nothing of it is visible then. Default: none. */
  readonly signal?: AbortSignal | undefined;
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

/** A piece of an export. */
export type ExportedPart =
  | { readonly type: "conversation"; readonly conversation: ConversationView }
  | { readonly type: "message"; readonly message: ConversationMessage };

const maxTitleLength = 200;
/** Messages that an export reads at once. */
const exportPage = 500;
const maxMetadataLength = 16_000;
const mebibyte = 1024 * 1024;
/** Bytes of messages in one fork. */
const maxForkBytes = 64 * mebibyte;
/** Other writes of a SQLite file wait for a page. */
const forkPage = { rows: 500, bytes: mebibyte };
const forkBounds = { atOnce: 1, ofUser: 10, inAll: 500 };
/** How often a fork starts over because its source was changed meanwhile. */
const maxRestarts = 5;

export class Conversations {
  readonly #store: ConversationStore;
  readonly #ready: Promise<void>;
  readonly #clock: Clock;
  readonly #removed: (conversationId: string) => void;
  readonly #removing: (conversationId: string) => Promise<() => Promise<void>>;
  readonly #forks = new CopyQueue(forkBounds);

  /**
   * `removed` is called for each conversation that is removed, `removing` before: it returns the work to be done after that.
   */
  constructor(
    store: ConversationStore,
    clock: Clock,
    ready: Promise<void>,
    removed: (conversationId: string) => void,
    removing: (conversationId: string) => Promise<() => Promise<void>> = async () => async () => undefined,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#ready = ready;
    this.#removed = removed;
    this.#removing = removing;
  }

  /** The latest change first, a page at a time. */
  async list(options: ConversationListOptions = {}): Promise<ConversationPage> {
    const { userId, agentId, title, cursor, limit = 50 } = options;
    checkLimit(limit);
    const before = cursor === undefined ? undefined : pageCursor(cursor);
    await this.#ready;
    const length = callerPageLength;
    const rows = await this.#store.list({ userId, agentId, title, before, limit: limit + 1, length });
    const { page, more } = cutPage(rows, limit, length);
    const nextCursor = more === undefined ? null : writeCursor(more.updatedAt, more.conversationId);
    return { conversations: page.map(view), nextCursor };
  }

  async read(conversationId: string, { userId }: OwnerOption = {}): Promise<ConversationView> {
    checkMayExist(conversationId);
    await this.#ready;
    const row = await this.#store.read({ conversationId, userId });
    if (row === undefined) throw new ConversationNotFoundError({ conversationId });
    return view(row);
  }

  /** The messages, oldest first unless `order` says otherwise, a page at a time. */
  async messages(conversationId: string, options: MessageListOptions = {}): Promise<MessagePage> {
    const { userId, cursor, limit = 50, order = "oldest" } = options;
    checkLimit(limit);
    if (order !== "oldest" && order !== "newest")
      throw new InvalidOptionError({ option: "order", problem: "expected oldest or newest" });
    const from = cursor === undefined ? undefined : messageCursor(cursor);
    const range =
      order === "oldest" ? { after: from ?? 0 } : { after: 0, before: from ?? Number.MAX_SAFE_INTEGER };
    checkMayExist(conversationId);
    await this.#ready;
    const length = callerPageLength;
    const rows = await this.#store.messages({ conversationId, userId, ...range, limit: limit + 1, length });
    if (rows === undefined) throw new ConversationNotFoundError({ conversationId });
    const { page, more } = cutPage(rows, limit, length);
    const nextCursor = more === undefined ? null : writeCursor(more.sequence);
    return { messages: page.map(viewMessage), nextCursor };
  }

  /** The conversation, then its messages, oldest first: everything that is kept of it, read page by page. */
  async export(conversationId: string, owner: OwnerOption = {}): Promise<AsyncGenerator<ExportedPart>> {
    const conversation = await this.read(conversationId, owner);
    return this.#parts(conversation, owner);
  }

  async *#parts(conversation: ConversationView, owner: OwnerOption): AsyncGenerator<ExportedPart, undefined> {
    yield { type: "conversation", conversation };
    let cursor: string | undefined;
    do {
      const page = await this.messages(conversation.conversationId, { ...owner, cursor, limit: exportPage });
      for (const message of page.messages) yield { type: "message", message };
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  rename(conversationId: string, title: string, owner: OwnerOption = {}): Promise<ConversationView> {
    return this.change(conversationId, { title }, owner);
  }

  /** Changes the title or the metadata. */
  async change(
    conversationId: string,
    { title, metadata }: ConversationChange,
    { userId }: OwnerOption = {},
  ): Promise<ConversationView> {
    if (title !== undefined || metadata === undefined) checkTitle(title);
    const kept = metadataText(metadata);
    checkMayExist(conversationId);
    await this.#ready;
    const what = { conversationId, userId, title, metadata: kept };
    if (!(await this.#store.change({ key: randomUUID(), ...what, at: this.#clock.now() }))) {
      throw new ConversationNotFoundError({ conversationId });
    }
    return this.read(conversationId, { userId });
  }

  /** A new conversation of the same user that begins with the messages of this one. */
  async fork(conversationId: string, options: ForkOptions = {}): Promise<ConversationView> {
    const { userId, forkId = uuid(), upTo, callerId = userId ?? null, signal } = options;
    checkUrlId(forkId, "forkId");
    checkMayExist(conversationId);
    await this.#ready;
    // Equal requests, such as one that a client repeats, continue one copy.
    const wish = JSON.stringify([conversationId, userId, forkId, upTo]);
    const copyId = createHash("sha256").update(wish).digest("base64url");
    const fork = { copyId, conversationId, userId, forkId, upTo };
    const { kind } = await this.#forks.run(callerId, (pass) => this.#copy(fork, pass, signal));
    if (kind === "more") {
      const problem = "The conversation was changed again and again while it was copied, try again later";
      throw new ConversationConflictError({ problem });
    }
    if (kind === "too-long") throw new ConversationTooLongError({ limit: maxForkBytes });
    if (kind === "taken")
      throw new ConversationConflictError({ problem: `There is already a conversation ${forkId}` });
    if (kind === "missing") {
      // A conversation of another user does not exist for the caller.
      await this.read(conversationId, { userId });
      throw new InvalidOptionError({ option: "upTo", problem: "the conversation has no such message" });
    }
    return this.read(forkId, { userId });
  }

  /** Copies page by page. The result is `more` where the source did not stay as it was for long enough. */
  async #copy(
    fork: Pick<ForkConversation, "copyId" | "conversationId" | "userId" | "forkId" | "upTo">,
    pass: () => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<ForkResult> {
    const bounds = { maxBytes: maxForkBytes, page: forkPage };
    for (let [copied, restarts] = [0, 0]; ; await pass()) {
      signal?.throwIfAborted();
      const key = randomUUID();
      const result = await this.#store.fork({ ...fork, ...bounds, key, at: this.#clock.now() });
      if (result.kind !== "more") return result;
      if (result.copied <= copied && ++restarts > maxRestarts) return result;
      ({ copied } = result);
    }
  }

  /** Removes a summary: the model sees the messages again that it stands for. */
  async removeSummary(
    conversationId: string,
    messageId: string,
    { userId }: OwnerOption = {},
  ): Promise<void> {
    if ([conversationId, messageId].some((id) => problemOfId(id) !== undefined))
      throw new SummaryNotFoundError({ messageId });
    await this.#ready;
    const which = { key: randomUUID(), conversationId, userId, messageId };
    if (!(await this.#store.removeSummary(which))) throw new SummaryNotFoundError({ messageId });
  }

  /** Removes it with its messages. A reply that runs in it is stopped. */
  async remove(conversationId: string, { userId }: OwnerOption = {}): Promise<void> {
    checkMayExist(conversationId);
    await this.#ready;
    const afterwards = await this.#removing(conversationId);
    if (!(await this.#store.remove({ key: randomUUID(), conversationId, userId }))) {
      throw new ConversationNotFoundError({ conversationId });
    }
    this.#removed(conversationId);
    await afterwards();
  }
}

function view({ createdAt, updatedAt, metadata, ...row }: ConversationRow): ConversationView {
  return {
    ...row,
    metadata: metadata === null ? {} : { ...parseObject(metadata, "The metadata of a conversation") },
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

export function viewMessage(row: StoredMessage): ConversationMessage {
  const createdAt = new Date(row.createdAt).toISOString();
  return { ...messageOf(row), createdAt, ...(row.partial && { partial: true as const }) };
}

function checkTitle(title: unknown): void {
  if (typeof title === "string" && title.trim() !== "" && title.length <= maxTitleLength) return;
  throw new InvalidOptionError({
    option: "title",
    problem: `expected a string of 1 to ${maxTitleLength} characters`,
  });
}

function metadataText(metadata: unknown): string | undefined {
  const option = "metadata";
  if (metadata === undefined) return undefined;
  if (!isRecord(metadata)) throw new InvalidOptionError({ option, problem: "expected an object" });
  const text = optionJson(option, metadata) ?? "{}";
  if (text.length <= maxMetadataLength) return text;
  throw new InvalidOptionError({ option, problem: `it has more than ${maxMetadataLength} characters` });
}

/** No conversation has an id that is none, and a store may be unable to look for it: PostgreSQL has no text with a NUL. */
function checkMayExist(conversationId: string): void {
  if (problemOfId(conversationId) !== undefined) throw new ConversationNotFoundError({ conversationId });
}

function pageCursor(cursor: string): { updatedAt: number; conversationId: string } {
  const [updatedAt, conversationId] = readCursor(cursor, isTimeAndId);
  return { updatedAt, conversationId };
}

function messageCursor(cursor: string): number {
  return readCursor(cursor, isNumber)[0];
}
