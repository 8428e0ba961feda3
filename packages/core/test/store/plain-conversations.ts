// Conversations of the store of maps.
import type {
  ConversationRow,
  ConversationStore,
  ForkConversation,
  ForkResult,
  KeepReply,
  KeptSummary,
  OneConversation,
  PostMessage,
  PostResult,
  ReplaceLast,
  StoredMessage,
} from "../../src/store/conversation-store.ts";
import { isForeign } from "../../src/store/decide/index.ts";
import { endOfPage, maxPageTime } from "../../src/store/sql/copy-page.ts";
import { readPage } from "../../src/store/sql/read-page.ts";
import { nothingUsed, sumUsage } from "../../src/store/usage.ts";

type Message = StoredMessage & {
  readonly role: "user" | "assistant" | "summary";
  /** While it is queued. */
  readonly queued?: { readonly agentId: string; readonly request: string } | undefined;
};

interface Conversation {
  row: ConversationRow;
  sequence: number;
  revision: number;
  messages: Message[];
}

interface Fork {
  readonly copyId: string;
  readonly sourceId: string;
  readonly revision: number;
  readonly last: number;
  copied: number;
  changedAt: number;
  readonly messages: Message[];
}

type Asked<Name extends keyof ConversationStore> = Parameters<ConversationStore[Name]>[0];

export class PlainConversations {
  readonly #conversations = new Map<string, Conversation>();
  readonly #forks = new Map<string, Fork>();
  readonly #removeTurns: (conversationId: string) => void;
  readonly #isLive: (conversationId: string) => boolean;
  readonly #runs: (conversationId: string) => boolean;

  /** `runs`: a turn is live in the conversation that is not idle. */
  constructor(
    removeTurns: (conversationId: string) => void,
    isLive: (conversationId: string) => boolean,
    runs: (conversationId: string) => boolean,
  ) {
    this.#removeTurns = removeTurns;
    this.#isLive = isLive;
    this.#runs = runs;
  }

  readonly operations = {
    post: this.#once((message: PostMessage) => this.post(message)),
    change: this.#once((change: Asked<"change">): boolean => {
      const found = this.#of(change);
      if (found === undefined) return false;
      const { title = found.row.title, metadata = found.row.metadata, at } = change;
      found.row = { ...found.row, title, metadata, updatedAt: Math.max(found.row.updatedAt, at) };
      return true;
    }),
    fork: this.#once((fork: ForkConversation) => this.#fork(fork)),
    remove: this.#once((which: Asked<"remove">) => this.#remove(which)),
    removeSummary: this.#once(({ messageId, ...which }: Asked<"removeSummary">): boolean => {
      const found = this.#of(which);
      const place = found?.messages.findIndex((each) => each.messageId === messageId) ?? -1;
      if (found?.messages[place]?.role !== "summary") return false;
      found.messages.splice(place, 1);
      touch(found, 0, 0, 1);
      return true;
    }),
    removeUnfinishedFork: ({ before }: Asked<"removeUnfinishedFork">): boolean => {
      const found = [...this.#forks].find(([, { changedAt }]) => changedAt < before);
      return found !== undefined && this.#forks.delete(found[0]);
    },
    removeUnchanged: ({ before, limit }: Asked<"removeUnchanged">): string[] => {
      const ids = [...this.#conversations.values()]
        .map(({ row }) => row)
        .filter(({ conversationId, updatedAt }) => updatedAt < before && !this.#isLive(conversationId))
        .sort((a, b) => byChange(b, a))
        .slice(0, limit)
        .map(({ conversationId }) => conversationId);
      for (const conversationId of ids) this.#remove({ conversationId });
      return ids;
    },
    recent: ({ conversationId, userId, upTo, limit }: Asked<"recent">) => {
      const found = this.#of({ conversationId, userId });
      const end = found?.messages.find(({ messageId }) => messageId === upTo);
      const upToEnd = ({ sequence }: Message) => end === undefined || sequence <= end.sequence;
      return found && newest(found.messages.filter(upToEnd), limit);
    },
    messages: (query: Asked<"messages">) => {
      const { after, before, limit, length } = query;
      const found = this.#of(query)?.messages.filter(
        ({ sequence }) => sequence > after && (before === undefined || sequence < before),
      );
      const ordered = before === undefined ? found : found?.toReversed();
      return ordered && readPage(ordered.slice(0, limit), withoutRole, length);
    },
    queue: (which: OneConversation) =>
      this.#of(which)?.messages.flatMap(({ messageId, body, createdAt, queued }) =>
        queued === undefined ? [] : [{ messageId, body, createdAt, ...queued }],
      ),
    leaveQueue: this.#once(({ messageId, keep, ...which }: Asked<"leaveQueue">): boolean => {
      const messages = this.#of(which)?.messages ?? [];
      const index = messages.findIndex((each) => each.messageId === messageId && each.queued !== undefined);
      const message = messages[index];
      if (message === undefined) return false;
      messages.splice(index, 1, ...(keep ? [{ ...message, queued: undefined }] : []));
      return true;
    }),
    leftQueues: ({ agentIds, limit }: Asked<"leftQueues">) =>
      [...this.#conversations.values()]
        .flatMap(({ row: { conversationId, userId }, messages }) => {
          const first = messages.find(({ queued }) => queued !== undefined);
          const isLeft = agentIds.includes(first?.queued?.agentId ?? "") && !this.#runs(conversationId);
          return first && isLeft ? [{ conversationId, userId, ...first }] : [];
        })
        .sort((a, b) => a.createdAt - b.createdAt)
        .slice(0, limit)
        .map(({ conversationId, userId, messageId }) => ({ conversationId, userId, messageId })),
    read: (which: OneConversation) => this.#of(which)?.row,
    list: ({ userId, agentId, title, before, limit, length }: Asked<"list">) => {
      const rows = [...this.#conversations.values()]
        .map(({ row }) => row)
        .filter(
          (row) =>
            (userId === undefined || row.userId === userId) &&
            (agentId === undefined || row.agentId === agentId) &&
            (title === undefined || lower(row.title ?? "").includes(lower(title))) &&
            (before === undefined || byChange(row, before) > 0),
        );
      return readPage(rows.sort(byChange).slice(0, limit), (row) => row, length);
    },
  };

  ownerOf(conversationId: string): string | null | undefined {
    return this.#conversations.get(conversationId)?.row.userId;
  }

  /** Whether messages are queued before one of them, or before a new one. */
  isBehind(
    conversationId: string,
    { messageId, wasQueued = false }: Pick<PostMessage, "messageId" | "wasQueued">,
  ): boolean {
    const messages = this.#conversations.get(conversationId)?.messages ?? [];
    const place = messages.findIndex((message) => message.messageId === messageId);
    const otherwise = wasQueued ? 0 : undefined;
    return messages.slice(0, place === -1 ? otherwise : place).some(({ queued }) => queued !== undefined);
  }

  /** The newest messages before one of them. */
  before(conversationId: string, messageId: string, limit: number): readonly StoredMessage[] {
    const messages = this.#conversations.get(conversationId)?.messages ?? [];
    const place = messages.findIndex((message) => message.messageId === messageId);
    return newest(messages.slice(0, place), limit);
  }

  post(message: Omit<PostMessage, "key">): PostResult {
    const { conversationId, agentId, userId, title, messageId, body, again, waits, queue, wasQueued, at } =
      message;
    const found = this.#conversations.get(conversationId);
    const queued = queue && { agentId, request: queue.request };
    const made = { messageId, body, partial: false, createdAt: at, role: "user", queued } as const;
    if (found === undefined) {
      if (wasQueued) return { kind: "withdrawn" };
      this.#forks.delete(conversationId);
      const times = { createdAt: at, updatedAt: at };
      const row = { conversationId, agentId, userId, title, metadata: null, ...times, usage: nothingUsed };
      const messages = [{ ...made, sequence: 1 }];
      this.#conversations.set(conversationId, { row, sequence: 2, revision: 0, messages });
      return { kind: "posted" };
    }
    if (isForeign(found.row, message)) return { kind: "foreign" };
    const index = found.messages.findIndex((each) => each.messageId === messageId);
    const there = found.messages[index];
    if (there === undefined) {
      if (wasQueued) return { kind: "withdrawn" };
      const count = found.messages.filter((each) => each.queued !== undefined).length;
      if (queue !== undefined && count >= queue.most) return { kind: "full" };
      const sequence = found.sequence + 2;
      found.messages.push({ ...made, sequence });
      touch(found, at, sequence + 1, 0);
      return { kind: "posted" };
    }
    if (there.role !== "user") return { kind: "has-reply" };
    if (waits || queue !== undefined) return { kind: "posted" };
    const changed = there.body !== body;
    if (changed || again) found.messages.splice(index + 1);
    else if (found.messages[index + 1]?.role === "assistant") return { kind: "has-reply" };
    found.messages[index] = { ...there, body, queued: undefined };
    touch(found, at, there.sequence + 1, changed || again ? 1 : 0);
    return { kind: "posted" };
  }

  keepReply({ conversationId, userId, replyTo, message, summary, usage, at }: KeepReply): void {
    const found = this.#of({ conversationId, userId });
    if (found === undefined) return;
    if (message !== null) {
      const asked = found.messages.find(({ messageId, role }) => messageId === replyTo && role === "user");
      const isFree = asked && !found.messages.some(({ sequence }) => sequence === asked.sequence + 1);
      const sequence = asked && isFree ? asked.sequence + 1 : found.sequence + 1;
      const index = found.messages.findIndex(({ messageId }) => messageId === message.messageId);
      const before = found.messages[index];
      if (before === undefined) {
        found.messages.push({ ...message, sequence, createdAt: at, role: "assistant" });
        found.messages.sort((a, b) => a.sequence - b.sequence);
      } else if (before.role === "assistant") found.messages[index] = { ...before, ...message };
      touch(found, at, sequence, 1);
    } else touch(found, at, 0, 1);
    if (summary !== undefined) this.#keepSummary(found, summary, at);
    found.row = { ...found.row, usage: sumUsage(found.row.usage, usage) };
  }

  #keepSummary({ messages }: Conversation, { messageId, before, body }: KeptSummary, at: number): void {
    const index = messages.findIndex((each) => each.messageId === before && each.role === "user");
    const sequence = (messages[index]?.sequence ?? 0) - 1;
    if (sequence < 1 || messages[index - 1]?.sequence === sequence) return;
    messages.splice(index, 0, {
      ...{ messageId, body, sequence, partial: false, createdAt: at },
      role: "summary",
    });
  }

  replaceLast({ conversationId, userId, messageId, previous, body, at }: ReplaceLast): boolean {
    const found = this.#of({ conversationId, userId });
    const place = found?.messages.findIndex((each) => each.messageId === messageId) ?? -1;
    const last = found?.messages[place];
    const isFollowed = found?.messages.slice(place + 1).some(({ role }) => role === "assistant");
    if (found === undefined || last?.body !== previous || isFollowed) return false;
    found.messages[place] = { ...last, body };
    touch(found, at, 0, 1);
    return true;
  }

  #of({ conversationId, userId }: OneConversation): Conversation | undefined {
    const found = this.#conversations.get(conversationId);
    return userId === undefined || found?.row.userId === userId ? found : undefined;
  }

  #once<Argument extends { readonly key: string }, Result>(work: (argument: Argument) => Result) {
    const results = new Map<string, { readonly result: Result }>();
    return (argument: Argument): Result => {
      const first = results.get(argument.key) ?? { result: work(argument) };
      results.set(argument.key, first);
      return first.result;
    };
  }

  #remove(which: OneConversation): boolean {
    if (this.#of(which) === undefined) return false;
    const { conversationId } = which;
    for (const [forkId, { sourceId }] of this.#forks)
      if (sourceId === conversationId) this.#forks.delete(forkId);
    this.#removeTurns(conversationId);
    return this.#conversations.delete(conversationId);
  }

  #fork({ copyId, forkId, upTo, maxBytes, page, at, ...which }: ForkConversation): ForkResult {
    const source = this.#of(which);
    if (source === undefined) return { kind: "missing" };
    if (this.#conversations.has(forkId)) return { kind: "taken" };
    let fork = this.#forks.get(forkId);
    if (fork?.copyId !== copyId || fork.revision !== source.revision) {
      if (fork !== undefined && fork.copyId !== copyId && fork.changedAt > at - maxPageTime)
        return { kind: "taken" };
      this.#forks.delete(forkId);
      const end = source.messages.find(({ messageId }) => messageId === upTo);
      if (upTo !== undefined && end === undefined) return { kind: "missing" };
      const last = end?.sequence ?? source.sequence;
      const copied = source.messages.filter(({ sequence }) => sequence <= last);
      if (copied.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) > maxBytes)
        return { kind: "too-long" };
      const sourceId = which.conversationId;
      const { revision } = source;
      fork = { copyId, sourceId, revision, last, copied: 0, changedAt: at, messages: [] };
    }
    const begun = fork;
    const left = source.messages.filter(({ sequence }) => sequence > begun.copied && sequence <= begun.last);
    const sizes = left.map(({ sequence, body }) => ({ sequence, bytes: Buffer.byteLength(body) }));
    const { copied, more } = endOfPage(sizes, page);
    const chosen = left.filter(({ sequence }) => sequence <= copied);
    begun.messages.push(...chosen.map((message) => ({ ...message, queued: undefined })));
    if (more) {
      Object.assign(begun, { copied, changedAt: at });
      this.#forks.set(forkId, begun);
      return { kind: "more", copied };
    }
    this.#forks.delete(forkId);
    const row = { ...source.row, conversationId: forkId, createdAt: at, updatedAt: at, usage: nothingUsed };
    const { messages, last } = begun;
    this.#conversations.set(forkId, { row, sequence: last + 1, revision: 0, messages });
    return { kind: "forked" };
  }
}

function touch(conversation: Conversation, at: number, sequence: number, revisions: number): void {
  conversation.row = { ...conversation.row, updatedAt: Math.max(conversation.row.updatedAt, at) };
  conversation.sequence = Math.max(conversation.sequence, sequence);
  conversation.revision += revisions;
}

function newest(messages: readonly Message[], limit: number): StoredMessage[] {
  return readPage(messages.toReversed().slice(0, limit), withoutRole).reverse();
}

function withoutRole({ role: _, queued: __, ...message }: Message): StoredMessage {
  return message;
}

type Place = Pick<ConversationRow, "updatedAt" | "conversationId">;

/** The latest change first. */
function byChange(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.conversationId < b.conversationId ? 1 : -1);
}

function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
