// Opens the page that the address names, with the client: a chat in a conversation, or the desk where refunds are approved.
import { AndanteApiError, createClient } from "@andante/client";
import { createRoot } from "react-dom/client";
import type { ChatMessage } from "../chat-page/part.tsx";
import { Chat } from "./chat.tsx";
import { Desk } from "./desk.tsx";

const andante = createClient({ baseUrl: location.origin });
const address = new URLSearchParams(location.search);
const agent = address.get("agent");
const conversation = address.get("conversation") ?? "";
const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");

/** The earlier messages; none in a conversation that has not begun. */
async function earlier(): Promise<ChatMessage[]> {
  try {
    const { messages } = await andante.conversation(conversation).messages();
    // The server keeps them as the AI SDK made them.
    return messages as unknown as ChatMessage[];
  } catch (error) {
    if (error instanceof AndanteApiError && error.status === 404) return [];
    throw error;
  }
}

createRoot(root).render(
  agent === null ? (
    <Desk andante={andante} />
  ) : (
    <Chat andante={andante} agent={agent} conversation={conversation} messages={await earlier()} />
  ),
);
