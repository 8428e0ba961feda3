// A chat with one agent, on the AI SDK's useChat.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { useState } from "react";
import { type ChatMessage, Part } from "./part.tsx";
import { stopAnswer, wordsOf } from "./server.ts";

interface ChatProps {
  readonly agent: string;
  readonly conversation: string;
  readonly messages: ChatMessage[];
}

export function Chat({ agent, conversation, messages: earlier }: ChatProps) {
  const { messages, sendMessage, regenerate, addToolApprovalResponse, status, error } = useChat({
    id: conversation,
    messages: earlier,
    transport: new DefaultChatTransport({ api: `/agents/${agent}/chat` }),
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
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
      {error !== undefined && <p role="alert">{wordsOf(error)}</p>}
      <Question ask={(text) => sendMessage({ text })} />
      <button type="button" onClick={() => stopAnswer(agent, conversation)}>
        Stop
      </button>
      <button type="button" onClick={() => regenerate()}>
        Again
      </button>
    </main>
  );
}

function Question({ ask }: { readonly ask: (text: string) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        ask(text);
        setText("");
      }}
    >
      <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
      <button type="submit">Send</button>
    </form>
  );
}
