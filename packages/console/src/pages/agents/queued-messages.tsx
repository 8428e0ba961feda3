// The messages that wait for their replies in the open conversation, with a button that takes one back.
import type { ConversationMessage } from "@andante/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { queueQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { isObject } from "../../form/as-schema.ts";

export function QueuedMessages({
  agentId,
  conversationId,
  onWithdrawn,
}: {
  readonly agentId: string;
  readonly conversationId: string;
  readonly onWithdrawn: (messageId: string) => void;
}) {
  const client = useQueryClient();
  const query = queueQuery(agentId, conversationId);
  const { data: waiting = [] } = useQuery(query);
  const [error, setError] = useState<unknown>();
  const withdraw = async (messageId: string) => {
    setError(undefined);
    await andante.agent(agentId).withdraw(conversationId, messageId);
    onWithdrawn(messageId);
  };
  const act = (messageId: string) =>
    withdraw(messageId)
      .catch(setError)
      .finally(() => client.invalidateQueries({ queryKey: query.queryKey }));
  if (waiting.length === 0 && error === undefined) return null;
  return (
    <section className="queue" aria-label="Messages that wait">
      {waiting.map(({ id, parts }) => (
        <p key={id} className="row">
          <span className="pill">waits</span>
          <span className="grow" dir="auto">
            {parts.map(textOf).join("")}
          </span>
          <button type="button" className="btn" onClick={() => void act(id)}>
            Withdraw
          </button>
        </p>
      ))}
      <Problem error={error} what="The message is not withdrawn" />
    </section>
  );
}

function textOf(part: ConversationMessage["parts"][number]): string {
  return isObject(part) && typeof part.text === "string" ? part.text : "";
}
