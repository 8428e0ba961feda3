// @andante/client/chat: a transport for the AI SDK's `useChat`. It sends one message, as the server stores the others.
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import type { AgentClient, ChatOptions } from "../agent/agent-client.ts";
import type { ChatChunk } from "../responses/wire.ts";

/** Options of `sendMessage(…, { body })` for one message, and of the transport for all. */
export type MessageOptions = Omit<ChatOptions, "conversationId" | "resumable" | "again" | "signal">;

export interface ChatTransportOptions extends MessageOptions {
  /**
   * `last` sends the last message: the server stores the others, and a lost reply is resumed. `all` sends every message
   * and stores nothing: for users without an id, who cannot own a conversation. Default: `last`.
   */
  readonly history?: "last" | "all" | undefined;
}

export interface AndanteChatTransport<Message extends UIMessage = UIMessage> extends ChatTransport<Message> {
  /**
   * Stops the running reply of a chat at the server, which stores its part so far. `stop` of `useChat` only stops
   * reading, and is also called when a component unmounts. Resolves to whether there was a running reply.
   */
  stop(chatId: string): Promise<boolean>;
}

/** A client with this agent. */
interface AgentSource<AgentId extends string> {
  agent(agentId: AgentId): AgentClient;
}

/**
 * The transport for `useChat`. The id of the chat is the id of the conversation: pass a persistent id to `useChat`, and
 * `resume: true` resumes the running reply after a reload. Approvals of tools and outputs of client tools work as with
 * any transport.
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
    // An attached reply starts from its beginning.
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

/** Rejects when the first read fails, so that `useChat` reports a refused request. */
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
      // The server creates these chunks with the AI SDK.
      else controller.enqueue(value as UIMessageChunk);
    },
    cancel() {
      // `return` alone would wait for the pending chunk.
      leave.abort();
      chunks.return().catch(() => undefined);
    },
  });
}
