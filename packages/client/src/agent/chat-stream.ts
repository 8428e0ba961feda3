// A chat: one reply as chunks of the AI SDK's UI message stream, each delivered once, over any number of connections.
import { AndanteApiError } from "../api-error.ts";
import type { Backoff } from "../connection/backoff.ts";
import { type Connection, part, type Sending } from "../connection/connection.ts";
import type { CallOptions } from "../connection/options.ts";
import { attach, cutOff, done, readEvents } from "../connection/read-events.ts";
import type { ChatChunk, ConversationMessage, MessagePage } from "../responses/wire.ts";
import { missingChunks } from "./kept-reply.ts";
import { KnownReply } from "./replayed-reply.ts";

export interface Chat extends CallOptions {
  readonly agentId: string;
  /** Without one nothing is stored, and a lost connection ends the chat. */
  readonly conversationId: string | undefined;
  /** The sent message. It may continue a message of the agent, such as with an approval of a tool call. */
  readonly sent: unknown;
}

export const runningReply = (agentId: string, conversationId: string) =>
  `/agents/${part(agentId)}/chat/${part(conversationId)}/stream`;

export const queueOf = (agentId: string, conversationId: string) =>
  `/agents/${part(agentId)}/chat/${part(conversationId)}/queue`;

/** The reply, beginning with the first response. */
export async function* followChat(
  connection: Connection,
  chat: Chat,
  first: Response,
): AsyncGenerator<ChatChunk, void> {
  const { agentId, conversationId, sent, signal } = chat;
  const known = new KnownReply();
  const backoff = connection.backoff(signal);
  const earlier = partsOf(sent);
  const steps = earlier.filter(({ type }) => type === "step-start").length;
  let response = first;
  let toPass: (chunk: ChatChunk) => ChatChunk | undefined = (chunk) => chunk;
  /** The server's reason for stopping: a caller's request, or to continue in its next process. */
  let stopped: ChatChunk | undefined;
  for (;;) {
    try {
      for await (const received of readEvents<ChatChunk>(response, { signal })) {
        if (received.type === done) {
          if (stopped === undefined) return;
          break;
        }
        const chunk = toPass(received);
        if (chunk === undefined) continue;
        if (chunk.type === "abort" && conversationId !== undefined) stopped = chunk;
        else {
          known.add(chunk);
          backoff.succeeded();
          yield chunk;
        }
      }
      if (stopped === undefined) throw cutOff();
    } catch (error) {
      if (conversationId === undefined) throw lost(error);
      await backoff.failed(error, () => true);
    }
    if (conversationId === undefined) return;
    const path = runningReply(agentId, conversationId);
    let keeping: Backoff | undefined;
    for (;;) {
      response = await connection.attempt({ signal }, () => attach(connection, { path, signal }));
      if (response.status !== 204) break;
      const wanted = { messageId: known.chunks[0]?.messageId, replyTo: idOf(sent) };
      const message = await findReply(connection, conversationId, wanted, signal);
      // A continued message existed before this reply.
      if (message !== undefined && message.parts.length > earlier.length) {
        yield* missingChunks(message, known.chunks, earlier.length);
        if (message.partial === true) yield stopped ?? { type: "abort" };
        return;
      }
      // Neither running nor stored: during a shutdown of the server, the reply waits for the next process.
      keeping ??= connection.backoff(signal);
      await keeping.failed(notKept());
    }
    toPass = known.replay(steps);
    stopped = undefined;
  }
}

/** Reads the reply to one request without resuming it. */
export async function* readOnce<T extends { readonly type: string }>(
  connection: Connection,
  sending: Sending,
  isLast: (event: T) => boolean,
): AsyncGenerator<T, void> {
  const response = await connection.open(sending);
  let isComplete = false;
  try {
    // Read to the end of the stream: disconnecting earlier would stop the server before the reply is stored.
    for await (const event of readEvents<T>(response, sending)) {
      isComplete ||= isLast(event);
      yield event;
    }
    if (!isComplete) throw cutOff();
  } catch (error) {
    if (!isComplete) throw lost(error);
  }
}

function lost(cause: unknown): unknown {
  if (!(cause instanceof AndanteApiError) || cause.code !== "unreachable") return cause;
  const message =
    "The connection was lost in the middle of the reply, which is not kept and cannot be resumed: ask again, or chat in a conversation";
  return new AndanteApiError(message, { status: 0, code: "connection-lost", cause });
}

/** The parts of the continued agent's message; none for a message of the user. */
function partsOf(sent: unknown): readonly { readonly type?: unknown }[] {
  const isReply = typeof sent === "object" && sent !== null && "role" in sent && sent.role === "assistant";
  return isReply && "parts" in sent && Array.isArray(sent.parts) ? sent.parts : [];
}

function idOf(sent: unknown): unknown {
  return typeof sent === "object" && sent !== null && "id" in sent ? sent.id : undefined;
}

/** The stored message of the reply: by its id, or without an id yet, the message after the user's message. */
async function findReply(
  connection: Connection,
  conversationId: string,
  { messageId, replyTo }: { readonly messageId: unknown; readonly replyTo: unknown },
  signal: AbortSignal | undefined,
): Promise<ConversationMessage | undefined> {
  const path = `/api/conversations/${part(conversationId)}/messages`;
  let cursor: string | undefined;
  let before: string | undefined;
  do {
    const page = await connection.repeat<MessagePage>({ path, query: { cursor, limit: 500 }, signal });
    for (const message of page.messages) {
      const isBehind = messageId === undefined && before !== undefined && before === replyTo;
      if (message.id === messageId || (isBehind && message.role === "assistant")) return message;
      before = message.id;
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}

function notKept(): AndanteApiError {
  const message = "The reply ended while the connection was lost, and was not kept";
  return new AndanteApiError(message, { status: 0, code: "connection-lost" });
}
