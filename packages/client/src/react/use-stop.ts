// useStop: the function of a Stop button for a chat of `useChat`.

/** The transport of the chat, of `@andante/client/chat`. */
export interface StoppingTransport {
  stop(chatId: string): Promise<boolean>;
}

/** A chat, as `useChat` returns it. */
export interface StoppedChat {
  readonly id: string;
  stop(): Promise<void>;
}

/**
 * Stops the running reply of a chat at the server, then reading it: the hook's own `stop` only stops reading, and the reply
 * would continue. The function resolves to whether there was a running reply.
 *
 * @example
 * ```ts
 * import { useChat } from "@ai-sdk/react";
 * import { createClient } from "@andante/client";
 * import { chatTransport } from "@andante/client/chat";
 * import { useStop } from "@andante/client/react";
 *
 * const transport = chatTransport(createClient({ baseUrl: "http://localhost:3141" }), "writer");
 * export const useWriter = (id: string) => {
 *   const chat = useChat({ id, transport, resume: true });
 *   return { ...chat, stop: useStop(transport, chat) };
 * };
 * ```
 */
export function useStop(transport: StoppingTransport, { id, stop }: StoppedChat): () => Promise<boolean> {
  return async () => {
    try {
      return await transport.stop(id);
    } finally {
      // Also of a server that does not respond.
      await stop();
    }
  };
}
