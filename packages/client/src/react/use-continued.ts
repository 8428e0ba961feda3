// useContinued: shows the rest of a reply that waited, in the open chat of `useChat`.
import { useTask } from "./follow.ts";

/** A client. */
export interface ContinuedSource {
  agent(agentId: string): {
    attach(
      conversationId: string,
      options: { readonly signal: AbortSignal },
    ): Promise<AsyncGenerator<unknown, void> | undefined>;
  };
  conversation(conversationId: string): {
    messages(options: {
      readonly order: "newest";
      readonly limit: number;
      readonly signal: AbortSignal;
    }): PromiseLike<{
      readonly messages: readonly WaitingMessage[];
    }>;
  };
}

/** The parts of a message that say whether its reply waits. */
export interface WaitingMessage {
  readonly id: string;
  readonly parts: readonly { readonly type: string; readonly state?: string | undefined }[];
}

/** A chat, as `useChat` returns it. */
export interface ContinuedChat<Message extends WaitingMessage> {
  readonly id: string;
  readonly status: string;
  readonly messages: readonly Message[];
  setMessages(messages: (before: Message[]) => Message[]): void;
  resumeStream(): Promise<void>;
}

/** Milliseconds between two looks: more with each, up to the longest. */
const firstPause = 500;
const longestPause = 10_000;

/**
 * While the last reply of a chat waits (for a decision about a tool call, or for a tool that waits in its own code), looks
 * whether it has continued, such as after a decision elsewhere or at a deadline, and has the chat show the rest of it.
 *
 * @example
 * ```ts
 * import { useChat } from "@ai-sdk/react";
 * import { createClient } from "@andante/client";
 * import { chatTransport } from "@andante/client/chat";
 * import { useContinued } from "@andante/client/react";
 *
 * const andante = createClient({ baseUrl: "http://localhost:3141" });
 * const transport = chatTransport(andante, "writer");
 * export const useWriter = (id: string) => {
 *   const chat = useChat({ id, transport, resume: true });
 *   useContinued(andante, "writer", chat);
 *   return chat;
 * };
 * ```
 */
export function useContinued<Message extends WaitingMessage>(
  client: ContinuedSource,
  agentId: string,
  chat: ContinuedChat<Message>,
): void {
  const last = chat.messages.at(-1);
  const waits = chat.status === "ready" && last !== undefined && isWaiting(last);
  const follow = async (signal: AbortSignal) => {
    for (let pause = firstPause; !signal.aborted; pause = Math.min(longestPause, pause * 1.5)) {
      await passed(pause, signal);
      if (signal.aborted || (await look(client, agentId, chat, signal).catch(() => false))) return;
    }
  };
  useTask(waits ? `${chat.id} ${last.id}` : undefined, follow, () => undefined);
}

/** Whether the chat has the rest now, and needs no further look. */
async function look<Message extends WaitingMessage>(
  client: ContinuedSource,
  agentId: string,
  { id, setMessages, resumeStream }: ContinuedChat<Message>,
  signal: AbortSignal,
): Promise<boolean> {
  const running = await client.agent(agentId).attach(id, { signal });
  if (running !== undefined) {
    await running.return();
    if (!signal.aborted) await resumeStream();
    // It aborts the signal, unless the reply has ended in between: then its message is read next.
    return false;
  }
  const { messages } = await client.conversation(id).messages({ order: "newest", limit: 1, signal });
  const [kept] = messages;
  if (signal.aborted || kept === undefined || isWaiting(kept)) return false;
  // The server keeps the messages of the chat as the AI SDK made them.
  const message = kept as Message;
  setMessages((before) => before.map((each) => (each.id === message.id ? message : each)));
  return true;
}

const waitingStates: ReadonlySet<string | undefined> = new Set(["approval-requested", "approval-responded"]);

function isWaiting({ parts }: WaitingMessage): boolean {
  return parts.some(({ type, state }) => type === "data-waiting" || waitingStates.has(state));
}

function passed(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
