// @andante/client/chat: a transport for `useChat` of the AI SDK. The server keeps the conversation, so one message is sent.
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import type { AgentClient, ChatOptions } from "../agent/agent-client.ts";
import type { ChatChunk } from "../responses/wire.ts";

/** Options of `sendMessage(…, { body })` for one message, and of the transport for all. */
export type MessageOptions = Omit<ChatOptions, "conversationId" | "resumable" | "again" | "signal">;

export interface ChatTransportOptions extends MessageOptions {
  /**
   * `last` sends the last message: the server has the others, and a lost reply is found again. `all` sends every message
   * and nothing is kept: for users without an id, whom no conversation can belong to. Default: `last`.
   */
  readonly history?: "last" | "all" | undefined;
}

export interface AndanteChatTransport<Message extends UIMessage = UIMessage> extends ChatTransport<Message> {
  /**
   * Stops the reply that runs in a chat, at the server: it is kept as far as it came. `stop` of `useChat` only stops
   * reading, and is called when a component goes away, too. Resolves to whether one ran.
   */
  stop(chatId: string): Promise<boolean>;
}

/** A client that has this agent. */
interface AgentSource<AgentId extends string> {
  agent(agentId: AgentId): AgentClient;
}

/**
 * The transport for `useChat`. The id of the chat is the id of the conversation: give `useChat` one that you keep, and
 * `resume: true` finds the running reply again after a reload. Approvals of tools and outputs of client tools work as
 * they do with any transport.
 *
 * @example
 * ```ts
 * import { createClient } from "@andante/client";
 * import { chatTransport } from "@andante/client/chat";
 * import { useChat } from "@ai-sdk/react";
 *
 * const andante = createClient({ baseUrl: "http://localhost:3141" });
 * const transport = chatTransport(andante, "writer");
 *
 * export const useWriter = (id: string) => useChat({ id, transport, resume: true });
 * ```
 */
export function chatTransport<AgentId extends string, Message extends UIMessage = UIMessage>(
  client: AgentSource<AgentId>,
  agentId: NoInfer<AgentId>,
  { history = "last", ...options }: ChatTransportOptions = {},
): AndanteChatTransport<Message> {
  const agent = client.agent(agentId);
  return {
    // A reply that is attached to comes from its beginning.
    resumeStreamIsReplay: true,
    async sendMessages({ chatId, messages, trigger, abortSignal, body }) {
      const isKept = history === "last";
      const { leave, signal } = leaving(abortSignal);
      const chunks = agent.chat(isKept ? messages.slice(-1) : messages, {
        ...options,
        ...body,
        ...(isKept && { conversationId: chatId }),
        again: trigger === "regenerate-message",
        signal,
      });
      return toStream(chunks, leave);
    },
    async reconnectToStream({ chatId, abortSignal }) {
      const { leave, signal } = leaving(abortSignal);
      const chunks = history === "last" ? await agent.attach(chatId, { signal }) : undefined;
      return chunks === undefined ? null : toStream(chunks, leave);
    },
    stop: (chatId) => agent.stop(chatId),
  };
}

/** A signal that is aborted when the stream is cancelled, or when its request is. */
function leaving(signal: AbortSignal | undefined) {
  const leave = new AbortController();
  return { leave, signal: signal ? AbortSignal.any([signal, leave.signal]) : leave.signal };
}

/** Rejects when the first chunk does not come: `useChat` shows a request that was refused as such. */
async function toStream(
  chunks: AsyncGenerator<ChatChunk, void>,
  leave: AbortController,
): Promise<ReadableStream<UIMessageChunk>> {
  let next: Promise<IteratorResult<ChatChunk, void>> | undefined = chunks.next();
  await next;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await (next ?? chunks.next());
      next = undefined;
      if (done === true) controller.close();
      // The server makes these with the AI SDK's own functions.
      else controller.enqueue(value as UIMessageChunk);
    },
    cancel() {
      // A generator that waits for a chunk would return only when that comes.
      leave.abort();
      chunks.return().catch(() => undefined);
    },
  });
}
