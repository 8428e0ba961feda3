// A summary of earlier messages, as a line between them and the messages that the model still sees.
import type { UIMessage } from "ai";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { Problem } from "../../components/problem.tsx";
import { isObject } from "../../form/as-schema.ts";

/** How many messages a summary stands for; undefined for any other message. */
export function summarizedBy({ metadata }: UIMessage): number | undefined {
  const summary = isObject(metadata) ? metadata.summary : undefined;
  return isObject(summary) ? Number(summary.messages) : undefined;
}

export function SummaryDivider({
  conversationId,
  messageId,
  messages,
  text,
}: {
  readonly conversationId: string;
  readonly messageId: string;
  readonly messages: number;
  readonly text: string;
}) {
  const [state, setState] = useState<"kept" | "removed">("kept");
  const [error, setError] = useState<unknown>();
  const remove = async () => {
    await andante.conversation(conversationId).removeSummary(messageId);
    setState("removed");
  };
  if (state === "removed") return null;
  return (
    <div className="summary-divider">
      <details className="faint">
        <summary>The model reads a summary of the {messages} messages above</summary>
        <p dir="auto">{text}</p>
        <button type="button" className="btn" onClick={() => void remove().catch(setError)}>
          Remove the summary
        </button>
        <Problem error={error} what="The summary is not removed" />
      </details>
    </div>
  );
}
