// The three calls of the server that useChat does not make by itself.
import type { ChatMessage } from "./part.tsx";

/** The earlier messages; none in a conversation that has not begun. */
export async function loadMessages(conversation: string): Promise<ChatMessage[]> {
  const response = await fetch(`/api/conversations/${encodeURIComponent(conversation)}/messages`);
  if (response.status === 404) return [];
  const { data } = await response.json();
  return data.messages;
}

/** Stops the reply at the server; without this, a reply without a reader continues. */
export async function stopAnswer(agent: string, conversation: string): Promise<void> {
  await fetch(`/agents/${agent}/chat/${encodeURIComponent(conversation)}/stream`, { method: "DELETE" });
}

/** A refused request has the server's envelope as its message, a broken answer a plain text. */
export function wordsOf({ message }: Error): string {
  try {
    return JSON.parse(message).error;
  } catch {
    return message;
  }
}
