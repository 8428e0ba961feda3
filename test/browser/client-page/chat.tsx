// A chat with one agent: the AI SDK's useChat on the client's transport.
import { useChat } from "@ai-sdk/react";
import type { Client } from "@andante/client";
import { chatTransport } from "@andante/client/chat";
import { useContinued, useStop } from "@andante/client/react";
import { isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { useMemo } from "react";
import { type ChatMessage, Part } from "../chat-page/part.tsx";

interface ChatProps {
  readonly andante: Client;
  readonly agent: string;
  readonly conversation: string;
  readonly messages: ChatMessage[];
}

export function Chat({ andante, agent, conversation, messages: earlier }: ChatProps) {
  const transport = useMemo(() => chatTransport(andante, agent), [andante, agent]);
  const chat = useChat({
    id: conversation,
    messages: earlier,
    transport,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  useContinued(andante, agent, chat);
  const end = useStop(transport, chat);
  const { messages, sendMessage, regenerate, addToolApprovalResponse, status, error } = chat;
  const ask = (data: FormData) => sendMessage({ text: String(data.get("text")) });
  return (
    <main>
      <p id="status">{status}</p>
      {messages.map(({ id, role, parts }) => (
        <article key={id} className={role}>
          {parts.map((part, index) => (
            <Part
              // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message have no ids and never move.
              key={index}
              part={part}
              answer={(approved) =>
                isToolUIPart(part) &&
                part.approval !== undefined &&
                addToolApprovalResponse({ id: part.approval.id, approved })
              }
            />
          ))}
        </article>
      ))}
      {error !== undefined && <p role="alert">{error.message}</p>}
      <form action={ask}>
        <input aria-label="Message" name="text" />
        <button type="submit">Send</button>
      </form>
      <button type="button" onClick={() => transport.stop(conversation)}>
        Stop
      </button>
      <button type="button" onClick={() => end()}>
        End
      </button>
      <button type="button" onClick={() => regenerate()}>
        Again
      </button>
    </main>
  );
}
