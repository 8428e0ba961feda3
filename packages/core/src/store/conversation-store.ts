// The part of the store contract that keeps conversations. Every store passes the cases of conversation-cases.ts.
//
// A conversation belongs to the user who began it, or has no owner (null). With a `userId`, a conversation of another user
// is treated as missing; without one, ownership is not checked.
//
// Every write carries a key, a random id: repeating one whose result was lost returns the first result.

import type { StoredUsage } from "./usage.ts";

export type { StoredUsage };

export interface ConversationRow {
  readonly conversationId: string;
  /** The agent that it began with. */
  readonly agentId: string;
  readonly userId: string | null;
  readonly title: string | null;
  /** A JSON object of the host's; null for none. */
  readonly metadata: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly usage: StoredUsage;
}

export interface StoredMessage {
  /** Its place in the conversation, in ascending order with gaps: before a user's message is a place for a summary. */
  readonly sequence: number;
  readonly messageId: string;
  /** The message, a JSON object. */
  readonly body: string;
  /** The reply broke off. */
  readonly partial: boolean;
  readonly createdAt: number;
}

/** A user's message. The first one begins the conversation. */
export interface PostMessage {
  readonly key: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly userId: string | null;
  /** The title of a conversation that begins with it. */
  readonly title: string | null;
  readonly messageId: string;
  readonly body: string;
  /** The caller wants another reply to a message that has one. */
  readonly again: boolean;
  /** A message that is new is kept, one that is there stays as it is. Default: false. */
  readonly waits?: boolean;
  /** The same, for one that waits for another reply: a new one is queued. Default: it is not queued. */
  readonly queue?: QueuePlace | undefined;
  /** It was queued: it is not kept where it is there no more. Default: false. */
  readonly wasQueued?: boolean | undefined;
  /** A conversation that began with another agent is `foreign`. Default: false. */
  readonly ownConversation?: boolean | undefined;
  readonly at: number;
}

export interface QueuePlace {
  /** From this any process can begin its turn; JSON. */
  readonly request: string;
  /** How many messages the queue of the conversation may hold. */
  readonly most: number;
}

/** A message that waits for its turn. The write that begins the turn takes it from the queue. */
export interface QueuedMessage extends Pick<StoredMessage, "messageId" | "body" | "createdAt"> {
  /** The agent that is asked. */
  readonly agentId: string;
  readonly request: string;
}

/** The queue of a conversation in which no turn runs. */
export interface LeftQueue {
  readonly conversationId: string;
  readonly userId: string | null;
  /** The first message of it. */
  readonly messageId: string;
}

/** Takes a message from the queue. */
export interface LeaveQueue extends OneConversation {
  readonly key: string;
  readonly messageId: string;
  /** The message stays in the conversation, without a reply. Default: it is removed. */
  readonly keep?: boolean | undefined;
}

/**
 * - `posted`: it is there, with a place for its reply right after it. One that was there before is changed to `body`;
 *   the messages after it are removed when it was changed or a reply is wanted `again`.
 * - `has-reply`: the same message is there with a reply right after it, and no other one is wanted; or the id is
 *   that of an assistant's message.
 * - `foreign`: the conversation is another user's, or another agent's where that counts.
 * - `full`: the queue of the conversation is.
 * - `withdrawn`: it was queued, and is there no more.
 */
export interface PostResult {
  readonly kind: "posted" | "has-reply" | "foreign" | "full" | "withdrawn";
}

/** An assistant's message, and the usage of its models. An existing one is replaced. */
export interface KeepReply {
  readonly conversationId: string;
  readonly userId: string | null;
  /** The message that it replies to: it stands right after that one, else last. Default: last. */
  readonly replyTo?: string | undefined;
  /** Null when nothing was said before the reply broke off. */
  readonly message: { readonly messageId: string; readonly body: string; readonly partial: boolean } | null;
  /** A summary of earlier messages, which was made beside the reply. Default: none. */
  readonly summary?: KeptSummary | undefined;
  readonly usage: StoredUsage;
  readonly at: number;
}

/**
 * A summary takes the free place right before a user's message. It is not kept where that message is gone, or another summary
 * has its place.
 */
export interface KeptSummary {
  readonly messageId: string;
  /** The id of the user's message that follows it. */
  readonly before: string;
  readonly body: string;
}

/** Removes a summary: the messages that it replaced stay as they are. */
export interface RemoveSummary extends OneConversation {
  readonly key: string;
  readonly messageId: string;
}

/**
 * Changes the last message, if it still is as the caller read it. Messages without replies may follow it: those of a process
 * that ended before it began their turns.
 */
export interface ReplaceLast {
  readonly conversationId: string;
  readonly userId: string | null;
  readonly messageId: string;
  readonly previous: string;
  readonly body: string;
  readonly at: number;
}

/** Filters of a list; the latest change first. */
export interface ConversationQuery {
  readonly userId?: string | null | undefined;
  readonly agentId?: string | undefined;
  /** Those whose title contains this, with the letters A to Z in either case. */
  readonly title?: string | undefined;
  /** The last row of the page before. */
  readonly before?: { readonly updatedAt: number; readonly conversationId: string } | undefined;
  readonly limit: number;
  /** As in `MessageQuery`. */
  readonly length?: number | undefined;
}

export interface MessageQuery {
  readonly conversationId: string;
  readonly userId?: string | null | undefined;
  readonly after: number;
  /** Only those with a sequence below this one, the newest first. Default: all after `after`, the oldest first. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** Stop once the strings of the messages (`textLength`) are as long as this; at least one is read. Default and most: 8 000 000. */
  readonly length?: number | undefined;
}

export interface OneConversation {
  readonly conversationId: string;
  readonly userId?: string | null | undefined;
}

/** The given fields are changed. */
export interface ChangeConversation extends OneConversation {
  readonly key: string;
  readonly title?: string | undefined;
  /** A JSON object; null for none. */
  readonly metadata?: string | null | undefined;
  readonly at: number;
}

/**
 * One page of a copy: a new conversation with the messages of another one, up to one of them. Nothing was used for it yet.
 * It exists once its last page is written; before that nothing of it is visible, and a message posted under its id begins
 * another conversation. A copy starts over when its source was changed since its first page, or when its pages were removed.
 */
export interface ForkConversation extends OneConversation {
  readonly key: string;
  /** The same id for all pages of one copy. */
  readonly copyId: string;
  /** The id of the new one. */
  readonly forkId: string;
  /** The last message that is copied. Default: the last one. */
  readonly upTo?: string | undefined;
  /** Bytes of messages that are copied at most, on all pages together. */
  readonly maxBytes: number;
  /** The size of a page: other writes wait for one. A longer message is a page of its own. */
  readonly page: CopyPageSize;
  readonly at: number;
}

export interface CopyPageSize {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * - `forked`: this was the last page.
 * - `more`: messages up to the number `copied` are copied, and others are left. A number that is not above that of the page
 *   before: the copy has started over.
 * - `missing`: there is no such conversation, or no such message in it.
 * - `taken`: there is a conversation with the new id, or another copy to it is under way.
 * - `too-long`: the messages are more than may be copied.
 */
export type ForkResult =
  | { readonly kind: "forked" | "missing" | "taken" | "too-long" }
  | { readonly kind: "more"; readonly copied: number };

export interface ConversationStore {
  post(message: PostMessage): Promise<PostResult>;
  /**
   * The newest messages, oldest first, at most 8 000 000 characters of them and at least one; undefined when there is no
   * such conversation. `upTo` is the id of the message to end with; an unknown one does not count.
   */
  recent(query: {
    readonly conversationId: string;
    readonly userId: string | null;
    readonly upTo?: string | undefined;
    readonly limit: number;
  }): Promise<readonly StoredMessage[] | undefined>;
  /** Messages with a sequence above `after`, in order, or backwards from `before`; undefined when there is no such conversation. */
  messages(query: MessageQuery): Promise<readonly StoredMessage[] | undefined>;
  /** The messages that wait for their turns, in their order; undefined when there is no such conversation. */
  queue(which: OneConversation): Promise<readonly QueuedMessage[] | undefined>;
  /** False when it is not in the queue. */
  leaveQueue(which: LeaveQueue): Promise<boolean>;
  /** Queues whose first messages ask one of these agents, at most `limit` of them, those of the oldest messages first. */
  leftQueues(which: {
    readonly agentIds: readonly string[];
    readonly limit: number;
  }): Promise<readonly LeftQueue[]>;
  read(which: OneConversation): Promise<ConversationRow | undefined>;
  list(query: ConversationQuery): Promise<readonly ConversationRow[]>;
  /** False when there is no such conversation. */
  change(change: ChangeConversation): Promise<boolean>;
  /** False when there is no such summary in it. */
  removeSummary(which: RemoveSummary): Promise<boolean>;
  fork(fork: ForkConversation): Promise<ForkResult>;
  /** Removes the pages of one copy that has written none since `before`; false when there is no such copy. */
  removeUnfinishedFork(which: { readonly before: number }): Promise<boolean>;
  /** Removes it with its messages and its turns, also one that runs. */
  remove(which: OneConversation & { readonly key: string }): Promise<boolean>;
  /**
   * Removes at most `limit` of those that nothing has changed since `before`, the longest unchanged first; none in which a
   * turn runs. Returns their ids.
   */
  removeUnchanged(which: { readonly before: number; readonly limit: number }): Promise<readonly string[]>;
}
