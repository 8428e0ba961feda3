// The conversations of an agent, newest first, with a mark on those that wait for an approval.
import type { Conversation } from "@andante/client";
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { waitsQuery } from "../../api/queries.ts";
import { Status } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { count } from "../../format/numbers.ts";

/** The last message is read for this many of the newest conversations: only it shows a pending approval. */
const looked = 20;

export function Talks({
  conversations,
  chosen,
  agentId,
  onNew,
}: {
  readonly conversations: readonly Conversation[];
  readonly chosen: string | undefined;
  readonly agentId: string;
  readonly onNew: () => void;
}) {
  const waits = useQueries({ queries: conversations.slice(0, looked).map(waitsQuery) });
  return (
    <nav className="talks" aria-label="Conversations">
      <button type="button" className="btn" onClick={onNew}>
        New conversation
      </button>
      {conversations.map(({ conversationId, title, updatedAt, usage }, index) => (
        <Link
          key={conversationId}
          to="/agents/$agentId"
          params={{ agentId }}
          search={{ chat: conversationId }}
          className={conversationId === chosen ? "talk on" : "talk"}
        >
          <b className="cut">{title ?? conversationId}</b>
          <small>
            <Ago time={updatedAt} suffix=" ago" /> · {count(usage.totalTokens)} tokens
          </small>
          {waits[index]?.data === true && <Status status="waiting" word="needs approval" />}
        </Link>
      ))}
      {conversations.length === 0 && <p className="faint">Conversations are kept here.</p>}
    </nav>
  );
}
