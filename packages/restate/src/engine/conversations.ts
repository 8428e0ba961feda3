// Conversations in the state of a shard: a row with the heads of the messages, and a key for the text of each. A turn is in
// the shard of its conversation, so that message and turn, and reply and end, are one write.
import { endOfPage, maxPageTime, readPage } from "@andante/core/internal";
import {
  type BeginTurn,
  type BeginTurnResult,
  beforeTurn,
  type ChangeConversation,
  type CommitResult,
  type ConversationRow,
  decisions,
  type EndTurn,
  type ExecutionHead,
  endOfWait,
  type ForkResult,
  isForeign,
  type KeptSummary,
  type LeaveQueue,
  type LeftQueue,
  type MessageQuery,
  nothingUsed,
  type OneConversation,
  type PostMessage,
  type PostResult,
  type QueuedMessage,
  type RemoveSummary,
  type ReplaceLast,
  type StoredMessage,
  type StoredUsage,
  sumUsage,
  usageSince,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { commit, insert, perform, remove } from "./executions.ts";
import { removeEvents } from "./journal.ts";
import { hashOf, type Kept, keys, type Queued, sets } from "./layout.ts";
import { columnsOf, field, optional } from "./lines.ts";
import { headOf } from "./read-row.ts";
import { find, memberKey } from "./sets.ts";

interface MessageHead extends Omit<StoredMessage, "body"> {
  readonly role: "user" | "assistant" | "summary";
  /** The number in the key of its text: a text is never overwritten, so a write that is killed half-way changes nothing. */
  readonly text: number;
  /** The length of the text, in characters and in bytes. */
  readonly length: number;
  readonly bytes: number;
  /** While it is queued: the agent that is asked, and the number of the request's text. */
  readonly queued?: { readonly agentId: string; readonly text: number } | undefined;
}

interface Conversation {
  row: ConversationRow;
  /** The last place of a message, or for a reply. */
  sequence: number;
  /** Changes with every change of earlier messages; a conversation that begins anew has another. */
  revision: number;
  readonly begun: string;
  /** The number of the last text. */
  texts: number;
  messages: MessageHead[];
  /** The last turn, which may have ended. */
  turn: string | null;
  /** The turn whose wait the last one has ended: it is live where a call that was killed half-way has left no row of the last. */
  replaced?: string | undefined;
  /** The part of the usage of a turn that is counted: its end may come again after a call that was killed half-way. */
  counted?: { readonly turn: string; readonly usage: StoredUsage };
}

/** A copy under way, which becomes a conversation with its last page. */
interface Fork {
  readonly copyId: string;
  readonly revision: string;
  readonly last: number;
  readonly copied: number;
  readonly changedAt: number;
  /** The number of the last text. */
  readonly texts: number;
}

/** One page of a copy, as the shard of the source has read it. The last one has the heads of all messages. */
interface ForkPage extends Pick<Fork, "revision" | "last" | "copied"> {
  readonly row: ConversationRow;
  readonly more: boolean;
  readonly bodies: readonly string[];
  readonly heads: readonly MessageHead[];
}

const rowKey = (id: string) => `cv/${id}`;
const forkKey = (id: string) => `fk/${id}`;
const textKey = (id: string, number: number) => `m/${number}/${id}`;
const resultsKey = (key: string) => `w${hashOf(key) % 16}`;

export const conversationColumns = columnsOf("updatedAt conversationId userId agentId title");
export const forkColumns = columnsOf("changedAt forkId");

const revisionOf = ({ begun, revision }: Conversation): string => `${begun}.${revision}`;

/** The letters A to Z in lower case, and no others. */
export function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

async function conversationOf(
  cells: Cells,
  { conversationId, userId }: OneConversation,
): Promise<Conversation | undefined> {
  const found = await cells.read<Conversation>(rowKey(conversationId));
  return userId === undefined || found?.row.userId === userId ? found : undefined;
}

function keepConversation(cells: Cells, conversation: Conversation): void {
  const { conversationId, updatedAt, userId, agentId, title } = conversation.row;
  const names = [field(conversationId), optional(userId), field(agentId), lower(field(title ?? ""))];
  noteQueue(cells, conversationId, conversation);
  cells.set(rowKey(conversationId), conversation, updatedAt, ...names);
}

/** Its first queued message. */
function queuedIn(conversation: Conversation | undefined): Queued | undefined {
  const first = conversation?.messages.find(({ queued }) => queued);
  return (
    conversation && first?.queued && [first.queued.agentId, first.createdAt, conversation.row.conversationId]
  );
}

/** `after`: the conversation as it is about to be kept; undefined when it is removed. */
function noteQueue(cells: Cells, conversationId: string, after: Conversation | undefined): void {
  const [old, made] = [queuedIn(cells.get<Conversation>(rowKey(conversationId))), queuedIn(after)];
  if (String(old) === String(made)) return;
  if (old !== undefined) cells.clear(memberKey(sets.queues, old));
  if (made !== undefined) cells.set(memberKey(sets.queues, made), made);
}

function putText(cells: Cells, conversation: Conversation, body: string): number {
  const text = ++conversation.texts;
  cells.set(textKey(conversation.row.conversationId, text), body);
  return text;
}

function addText(cells: Cells, conversation: Conversation, body: string) {
  const text = putText(cells, conversation, body);
  return { text, length: body.length, bytes: Buffer.byteLength(body) };
}

function removeTexts(cells: Cells, conversationId: string, messages: readonly MessageHead[]): void {
  for (const { text, queued } of messages) {
    cells.clear(textKey(conversationId, text));
    if (queued !== undefined) cells.clear(textKey(conversationId, queued.text));
  }
}

async function bodyOf(cells: Cells, { row }: Conversation, { text }: MessageHead): Promise<string> {
  return (await cells.read<string>(textKey(row.conversationId, text))) ?? "";
}

/** Performs a write, unless it is one that was performed: then its first result counts. */
async function once<Result>(cells: Cells, key: string, work: () => Promise<Result>): Promise<Result> {
  const first = await firstResult<Result>(cells, key);
  if (first !== undefined) return first;
  const result = await work();
  const results = cells.get<[string, Result][]>(resultsKey(key)) ?? [];
  if (result !== undefined) cells.set(resultsKey(key), [...results, [key, result]].slice(-32));
  return result;
}

/** The first result of a write that was performed. */
async function firstResult<Result>(cells: Cells, key: string): Promise<Result | undefined> {
  const results = await cells.read<[string, Result][]>(resultsKey(key));
  return results?.find(([each]) => each === key)?.[1];
}

async function post(cells: Cells, message: Omit<PostMessage, "key">, begun: string): Promise<PostResult> {
  const { conversationId, agentId, userId, title, messageId, body, again, waits, queue, wasQueued, at } =
    message;
  const found = await conversationOf(cells, { conversationId });
  const made = { messageId, partial: false, createdAt: at, role: "user" } as const;
  const enqueued = (conversation: Conversation) =>
    queue && { queued: { agentId, text: putText(cells, conversation, queue.request) } };
  if (found === undefined) {
    if (wasQueued) return { kind: "withdrawn" };
    await removeFork(cells, conversationId);
    const times = { createdAt: at, updatedAt: at };
    const row = { conversationId, agentId, userId, title, metadata: null, ...times, usage: nothingUsed };
    const texts = 0;
    const conversation = { row, sequence: 2, revision: 0, begun, texts, messages: [], turn: null };
    const text = { ...addText(cells, conversation, body), ...enqueued(conversation) };
    keepConversation(cells, { ...conversation, messages: [{ ...made, sequence: 1, ...text }] });
    return { kind: "posted" };
  }
  if (isForeign(found.row, message)) return { kind: "foreign" };
  const index = found.messages.findIndex((each) => each.messageId === messageId);
  const there = found.messages[index];
  if (there === undefined) {
    if (wasQueued) return { kind: "withdrawn" };
    const count = found.messages.filter(({ queued }) => queued).length;
    if (queue !== undefined && count >= queue.most) return { kind: "full" };
    // The place between is that of a summary.
    const sequence = found.sequence + 2;
    found.messages.push({ ...made, sequence, ...addText(cells, found, body), ...enqueued(found) });
    touch(cells, found, at, sequence + 1, 0);
    return { kind: "posted" };
  }
  if (there.role !== "user") return { kind: "has-reply" };
  if (waits || queue !== undefined) return { kind: "posted" };
  const isChanged = (await bodyOf(cells, found, there)) !== body;
  if (isChanged || again) removeTexts(cells, conversationId, found.messages.splice(index + 1));
  else if (found.messages[index + 1]?.role === "assistant") return { kind: "has-reply" };
  if (isChanged) replaceText(cells, found, index, there, body);
  else dequeue(cells, found, index);
  touch(cells, found, at, there.sequence + 1, isChanged || again ? 1 : 0);
  return { kind: "posted" };
}

function replaceText(cells: Cells, found: Conversation, index: number, before: MessageHead, body: string) {
  removeTexts(cells, found.row.conversationId, [before]);
  found.messages[index] = { ...before, ...addText(cells, found, body), queued: undefined };
}

/** The message stays, and is queued no more. */
function dequeue(cells: Cells, found: Conversation, index: number): void {
  const { queued, ...message } = found.messages[index] ?? {};
  if (queued === undefined || !("messageId" in message)) return;
  cells.clear(textKey(found.row.conversationId, queued.text));
  found.messages[index] = message;
}

async function leaveQueue(cells: Cells, { messageId, keep, ...which }: LeaveQueue): Promise<boolean> {
  const found = await conversationOf(cells, which);
  const index = found?.messages.findIndex((each) => each.messageId === messageId && each.queued) ?? -1;
  if (found === undefined || index === -1) return false;
  if (keep) dequeue(cells, found, index);
  else removeTexts(cells, which.conversationId, found.messages.splice(index, 1));
  keepConversation(cells, found);
  return true;
}

async function queue(cells: Cells, which: OneConversation): Promise<readonly QueuedMessage[] | undefined> {
  const found = await conversationOf(cells, which);
  const heads = found?.messages.filter(({ queued }) => queued) ?? [];
  const textOf = (text = 0) => textKey(which.conversationId, text);
  await cells.load(heads.map(({ queued }) => textOf(queued?.text)));
  const messages = await withTexts(cells, which.conversationId, heads);
  return (
    found &&
    messages.map(({ messageId, body, createdAt }, index) => {
      const queued = heads[index]?.queued;
      const request = cells.get<string>(textOf(queued?.text)) ?? "{}";
      return { messageId, body, createdAt, agentId: queued?.agentId ?? "", request };
    })
  );
}

/** Conversations that are read at once, and the most of one agent that are looked at. */
const queuesAtOnce = 64;
const maxQueues = 1_000;

/** Queues in which no turn runs, with the times of their first messages. */
async function leftQueues(
  cells: Cells,
  { agentIds, limit }: { readonly agentIds: readonly string[]; readonly limit: number },
): Promise<readonly (LeftQueue & { readonly at: number })[]> {
  const queues: Queued[] = [];
  for (const agentId of agentIds) {
    const isOf = (of: string) => of === agentId;
    queues.push(...(await find<Queued>(cells, sets.queues, { isOf, limit: maxQueues })));
  }
  queues.sort(([, at], [, otherAt]) => at - otherAt);
  const left: (LeftQueue & { readonly at: number })[] = [];
  for (const [place, member] of queues.entries()) {
    if (left.length === limit) break;
    const [, at, conversationId] = member;
    const next = queues.slice(place, place + queuesAtOnce).map(([, , id]) => rowKey(id));
    if (place % queuesAtOnce === 0) await cells.load(next);
    const found = await conversationOf(cells, { conversationId });
    const first = found?.messages.find(({ queued }) => queued);
    // A call that was killed half-way may have left the member of an earlier message.
    if (found === undefined || first === undefined || String(queuedIn(found)) !== String(member)) continue;
    if ((await liveTurnOf(cells, found))?.record.idle === false) continue;
    left.push({ conversationId, userId: found.row.userId, messageId: first.messageId, at });
  }
  return left;
}

function touch(cells: Cells, found: Conversation, at: number, sequence: number, revisions: number): void {
  found.row = { ...found.row, updatedAt: Math.max(found.row.updatedAt, at) };
  found.sequence = Math.max(found.sequence, sequence);
  found.revision += revisions;
  keepConversation(cells, found);
}

async function keepReply(cells: Cells, reply: EndTurn["reply"], { record }: Kept): Promise<void> {
  const { replyTo, message, summary, at } = reply;
  const found = await conversationOf(cells, reply);
  if (found === undefined) return;
  const [turn, usage] = [record.executionId, record.usage ?? nothingUsed];
  const counted = found.counted?.turn === turn ? found.counted.usage : nothingUsed;
  found.row = { ...found.row, usage: sumUsage(found.row.usage, usageSince(usage, counted)) };
  found.counted = { turn, usage };
  if (summary !== undefined) keepSummary(cells, found, summary, at);
  if (message === null) {
    touch(cells, found, at, 0, 1);
    return;
  }
  const { messageId, partial, body } = message;
  const asked = found.messages.find((each) => each.messageId === replyTo && each.role === "user");
  const isFree = asked && !found.messages.some(({ sequence }) => sequence === asked.sequence + 1);
  const sequence = asked && isFree ? asked.sequence + 1 : found.sequence + 1;
  const index = found.messages.findIndex((each) => each.messageId === messageId);
  const before = found.messages[index];
  if (before === undefined) {
    const text = addText(cells, found, body);
    found.messages.push({ messageId, partial, sequence, createdAt: at, role: "assistant", ...text });
    found.messages.sort((a, b) => a.sequence - b.sequence);
  } else if (before.role === "assistant") replaceText(cells, found, index, { ...before, partial }, body);
  touch(cells, found, at, sequence, 1);
}

function keepSummary(
  cells: Cells,
  found: Conversation,
  { messageId, before, body }: KeptSummary,
  at: number,
) {
  const index = found.messages.findIndex((each) => each.messageId === before && each.role === "user");
  const sequence = (found.messages[index]?.sequence ?? 0) - 1;
  if (sequence < 1 || found.messages[index - 1]?.sequence === sequence) return;
  const made = { messageId, partial: false, sequence, createdAt: at, role: "summary" } as const;
  found.messages.splice(index, 0, { ...made, ...addText(cells, found, body) });
}

async function removeSummary(cells: Cells, which: RemoveSummary): Promise<boolean> {
  const found = await conversationOf(cells, which);
  const place = found?.messages.findIndex((each) => each.messageId === which.messageId) ?? -1;
  if (found?.messages[place]?.role !== "summary") return false;
  removeTexts(cells, which.conversationId, found.messages.splice(place, 1));
  touch(cells, found, 0, 0, 1);
  return true;
}

async function replaceLast(cells: Cells, replace: ReplaceLast): Promise<boolean> {
  const { messageId, previous, body, at } = replace;
  const found = await conversationOf(cells, replace);
  const place = found?.messages.findIndex((each) => each.messageId === messageId) ?? -1;
  const last = found?.messages[place];
  if (found === undefined || last === undefined) return false;
  if (found.messages.slice(place + 1).some(({ role }) => role === "assistant")) return false;
  if ((await bodyOf(cells, found, last)) !== previous) return false;
  replaceText(cells, found, place, last, body);
  touch(cells, found, at, 0, 1);
  return true;
}

async function change(cells: Cells, argument: ChangeConversation): Promise<boolean> {
  const found = await conversationOf(cells, argument);
  if (found === undefined) return false;
  const { title = found.row.title, metadata = found.row.metadata, at } = argument;
  found.row = { ...found.row, title, metadata };
  touch(cells, found, at, 0, 0);
  return true;
}

function removeConversation(cells: Cells, { row, messages }: Conversation): void {
  const { conversationId } = row;
  removeTexts(cells, conversationId, messages);
  noteQueue(cells, conversationId, undefined);
  cells.clear(rowKey(conversationId));
}

/** The messages with their texts, in the order given, cut where the page is as long as asked for. */
async function withTexts(
  cells: Cells,
  conversationId: string,
  messages: readonly MessageHead[],
  length?: number,
): Promise<StoredMessage[]> {
  const lengthOf = (head: MessageHead) => head.messageId.length + head.length;
  const page = readPage(messages, (head) => head, length, lengthOf);
  await cells.load(page.map(({ text }) => textKey(conversationId, text)));
  return page.map(({ sequence, messageId, partial, createdAt, text }) => {
    const body = cells.get<string>(textKey(conversationId, text)) ?? "";
    return { sequence, messageId, body, partial, createdAt };
  });
}

/** The newest messages up to a place. */
async function newest(cells: Cells, { row, messages }: Conversation, limit: number, upTo = Infinity) {
  const found = messages.filter(({ sequence }) => sequence <= upTo).reverse();
  return (await withTexts(cells, row.conversationId, found.slice(0, limit))).reverse();
}

async function recent(
  cells: Cells,
  query: { conversationId: string; userId: string | null; upTo?: string | undefined; limit: number },
): Promise<readonly StoredMessage[] | undefined> {
  const found = await conversationOf(cells, query);
  const end = found?.messages.find(({ messageId }) => messageId === query.upTo)?.sequence;
  return found && newest(cells, found, query.limit, end);
}

async function messages(cells: Cells, query: MessageQuery): Promise<readonly StoredMessage[] | undefined> {
  const { after, before, limit, length } = query;
  const found = await conversationOf(cells, query);
  if (found === undefined) return undefined;
  const wanted = found.messages.filter(
    ({ sequence }) => sequence > after && (before === undefined || sequence < before),
  );
  const ordered = before === undefined ? wanted : wanted.reverse();
  return withTexts(cells, query.conversationId, ordered.slice(0, limit), length);
}

/** Reads the next page of a copy at its source. `from`: the copy under way, which counts while its revision does. */
async function readForkPage(
  cells: Cells,
  query: OneConversation & {
    readonly upTo?: string | undefined;
    readonly maxBytes: number;
    readonly page: { readonly rows: number; readonly bytes: number };
    readonly from: Pick<Fork, "revision" | "last" | "copied"> | undefined;
  },
): Promise<ForkPage | "missing" | "too-long"> {
  const { upTo, maxBytes, page } = query;
  const found = await conversationOf(cells, query);
  if (found === undefined) return "missing";
  const revision = revisionOf(found);
  const isSame = query.from?.revision === revision;
  const end = found.messages.find(({ messageId }) => messageId === upTo);
  if (!isSame && upTo !== undefined && end === undefined) return "missing";
  const last = isSame ? (query.from?.last ?? 0) : (end?.sequence ?? found.sequence);
  const upToLast = found.messages.filter(({ sequence }) => sequence <= last);
  if (!isSame && upToLast.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) return "too-long";
  const before = isSame ? (query.from?.copied ?? 0) : 0;
  const left = upToLast.filter(({ sequence }) => sequence > before);
  const sizes = left.map(({ sequence, bytes }) => ({ sequence, bytes }));
  const { copied, more } = endOfPage(sizes, page);
  const chosen = left.filter(({ sequence }) => sequence <= copied);
  const texts = chosen.map(({ text }) => textKey(query.conversationId, text));
  await cells.load(texts);
  const bodies = texts.map((key) => cells.get<string>(key) ?? "");
  return { row: found.row, revision, last, copied, more, bodies, heads: more ? [] : upToLast };
}

/** Keeps a page of a copy. Undefined: another page was kept meanwhile, and the caller has to look again. */
async function keepForkPage(
  cells: Cells,
  { forkId, copyId, page, at, after }: KeepForkPage,
): Promise<ForkResult | undefined> {
  await cells.load([rowKey(forkId), forkKey(forkId)]);
  if (cells.get(rowKey(forkId)) !== undefined) return { kind: "taken" };
  let fork = cells.get<Fork>(forkKey(forkId));
  const isSame = fork?.copyId === copyId && fork.revision === page.revision;
  if (fork !== undefined && fork.copyId !== copyId && fork.changedAt > at - maxPageTime)
    return { kind: "taken" };
  if ((isSame ? (fork?.copied ?? 0) : 0) !== after) return undefined;
  if (fork === undefined || !isSame) {
    await removeFork(cells, forkId);
    const { revision, last } = page;
    fork = { copyId, revision, last, copied: 0, changedAt: at, texts: 0 };
  }
  let { texts } = fork;
  for (const body of page.bodies) cells.set(textKey(forkId, ++texts), body);
  if (page.more) {
    const under: Fork = { ...fork, copied: page.copied, changedAt: at, texts };
    cells.set(forkKey(forkId), under, at, field(forkId));
    return { kind: "more", copied: page.copied };
  }
  cells.clear(forkKey(forkId));
  const row = { ...page.row, conversationId: forkId, createdAt: at, updatedAt: at, usage: nothingUsed };
  const [begun, sequence] = [`${copyId} ${forkId}`, fork.last + 1];
  const messages = page.heads.map((head, index) => ({ ...head, text: index + 1, queued: undefined }));
  keepConversation(cells, { row, sequence, revision: 0, begun, texts, messages, turn: null });
  return { kind: "forked" };
}

interface KeepForkPage {
  readonly forkId: string;
  readonly copyId: string;
  readonly page: ForkPage;
  /** The number of the last message that was copied before it. */
  readonly after: number;
  readonly at: number;
}

/** Removes a copy under way, unless it has written a page since `before`; returns whether there was one. */
async function removeFork(cells: Cells, forkId: string, before = Number.POSITIVE_INFINITY): Promise<boolean> {
  const fork = await cells.read<Fork>(forkKey(forkId));
  if (fork === undefined || fork.changedAt >= before) return false;
  for (let text = 1; text <= fork.texts; text++) cells.clear(textKey(forkId, text));
  cells.clear(forkKey(forkId));
  return true;
}

/** The row of the turn that is live in a conversation. */
async function liveTurnOf(cells: Cells, conversation: Conversation | undefined): Promise<Kept | undefined> {
  if (conversation?.turn == null) return undefined;
  const { turn, replaced } = conversation;
  let kept = await cells.read<Kept>(keys.row(turn));
  if (kept === undefined && replaced !== undefined) kept = await cells.read<Kept>(keys.row(replaced));
  return kept?.record.endAt === null ? kept : undefined;
}

async function beginTurn(cells: Cells, argument: BeginTurn): Promise<BeginTurnResult> {
  const { turn, message, before } = argument;
  const { conversationId, userId, agentId, executionId } = turn;
  const began = async (): Promise<BeginTurnResult> => {
    const found = await conversationOf(cells, { conversationId });
    if (before === undefined || message.kind !== "post" || found === undefined) return { kind: "begun" };
    const place = found.messages.find(({ messageId }) => messageId === message.messageId)?.sequence ?? 0;
    return { kind: "begun", before: await newest(cells, found, before, place - 1) };
  };
  const there = await cells.read<Kept>(keys.row(executionId));
  const conversation = await conversationOf(cells, { conversationId });
  const live = (await liveTurnOf(cells, conversation))?.record;
  const isLive = live && { ...live, status: live.idle ? ("suspended" as const) : ("running" as const) };
  const index = conversation?.messages.findIndex(({ messageId }) => messageId === message.messageId) ?? -1;
  const isGone = message.kind === "post" && message.wasQueued && index === -1;
  const earlier = isGone ? [] : conversation?.messages.slice(0, index === -1 ? undefined : index);
  const early = beforeTurn(turn, message, {
    token: there?.record.token,
    owner: conversation?.row.userId,
    live: isLive,
    isBehind: earlier?.some(({ queued }) => queued) === true,
  });
  if (early === "repeated") return began();
  if (early !== undefined) return early;
  if (message.kind === "replace") {
    if (!(await replaceLast(cells, { ...message, conversationId, userId }))) return { kind: "changed" };
  } else {
    const { kind } = await post(cells, { ...message, conversationId, userId, agentId }, executionId);
    if (kind !== "posted") return { kind };
  }
  if (live !== undefined) await perform(cells, decisions.cancel, endOfWait(turn, live.executionId));
  insert(
    cells,
    turn,
    { kind: "turn", stepIndex: 0, resumes: 0, usage: null, definition: null, links: null },
    { workflowId: "", agentId, tags: [], replayOf: null, trace: null },
    null,
  );
  const kept = await conversationOf(cells, { conversationId });
  const replaced = live?.executionId;
  if (kept !== undefined) keepConversation(cells, { ...kept, turn: executionId, replaced });
  return began();
}

async function endTurn(
  cells: Cells,
  { commit: argument, reply }: EndTurn,
  at: number,
): Promise<CommitResult> {
  const row = keys.row(argument.executionId);
  const before = (await cells.read<Kept>(row))?.record;
  // Otherwise this commit is repeated, or another writer was first.
  const isFirst =
    before?.token === argument.token && before.commits < argument.number && before.endAt === null;
  const result = await commit(cells, argument, at);
  const kept = cells.get<Kept>(row);
  if (!isFirst || result.kind !== "ok" || kept === undefined) return result;
  await keepReply(cells, reply, kept);
  return result;
}

/** Removes a conversation and the turn that is live in it, whose id it returns. */
async function removeWithTurn(cells: Cells, conversation: Conversation): Promise<Removed> {
  const live = await liveTurnOf(cells, conversation);
  if (live !== undefined) {
    await removeEvents(cells, live, Number.POSITIVE_INFINITY);
    remove(cells, live);
  }
  removeConversation(cells, conversation);
  return { turn: live?.record.executionId ?? null };
}

interface Removed {
  readonly turn: string | null;
}

/** Removes a conversation unless it was changed since `before` or a turn runs in it. */
async function removeUnchanged(
  cells: Cells,
  { conversationId, before }: { conversationId: string; before: number },
): Promise<Removed | undefined> {
  const found = await conversationOf(cells, { conversationId });
  if (found === undefined || found.row.updatedAt >= before) return undefined;
  if ((await liveTurnOf(cells, found))?.record.status === "running") return undefined;
  return await removeWithTurn(cells, found);
}

export const conversationWrites = {
  beginTurn,
  endTurn,
  post: (cells: Cells, message: PostMessage): Promise<PostResult> =>
    once(cells, message.key, () => post(cells, message, message.key)),
  change: (cells: Cells, argument: ChangeConversation): Promise<boolean> =>
    once(cells, argument.key, () => change(cells, argument)),
  remove: (cells: Cells, which: OneConversation & { readonly key: string }): Promise<Removed | undefined> =>
    once(cells, which.key, async () => {
      const found = await conversationOf(cells, which);
      return found && (await removeWithTurn(cells, found));
    }),
  leaveQueue: (cells: Cells, which: LeaveQueue): Promise<boolean> =>
    once(cells, which.key, () => leaveQueue(cells, which)),
  removeSummary: (cells: Cells, which: RemoveSummary): Promise<boolean> =>
    once(cells, which.key, () => removeSummary(cells, which)),
  removeUnchanged,
  removeOldFork: (cells: Cells, { forkId, before }: { forkId: string; before: number }) =>
    removeFork(cells, forkId, before),
  keepForkPage: (cells: Cells, page: KeepForkPage & { readonly key: string }) =>
    once(cells, page.key, () => keepForkPage(cells, page)),
};

export const conversationReads = {
  liveTurn: async (cells: Cells, conversationId: string): Promise<ExecutionHead | undefined> => {
    const live = await liveTurnOf(cells, await conversationOf(cells, { conversationId }));
    return live && headOf(live);
  },
  recent,
  messages,
  queue,
  leftQueues,
  conversation: async (cells: Cells, which: OneConversation): Promise<ConversationRow | undefined> =>
    (await conversationOf(cells, which))?.row,
  readForkPage,
  /** The copy under way to an id, and whether a conversation has the id. */
  forkState: async (cells: Cells, forkId: string) => {
    await cells.load([rowKey(forkId), forkKey(forkId)]);
    return { isTaken: cells.get(rowKey(forkId)) !== undefined, fork: cells.get<Fork>(forkKey(forkId)) };
  },
  forkResult: (cells: Cells, key: string) => firstResult<ForkResult>(cells, key),
};
