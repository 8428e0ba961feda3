// One agent: its conversations, the chat, its instructions and tools.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { agentQuery, conversationsQuery } from "../../api/queries.ts";
import type { AgentDetail, Conversation } from "../../api/types.ts";
import { Page } from "../../frame/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Ago } from "../../parts/time.tsx";
import { count } from "../../words/numbers.ts";
import "../execution/execution.css";
import "./agent.css";

const Chat = lazy(() => import("./chat.tsx"));

export function AgentPage() {
  const { agentId = "" } = useParams({ strict: false });
  const { data: agent, error } = useQuery(agentQuery(agentId));
  return (
    <Page
      title={agent?.name ?? agentId}
      crumbs={
        <>
          <Link className="quiet" to="/agents">
            Agents
          </Link>
          <span>/</span>
        </>
      }
    >
      {error !== null && (
        <div className="padded">
          <Problem error={error} what={`Agent ${agentId} cannot be shown`} />
        </div>
      )}
      {agent && <Whole agent={agent} />}
    </Page>
  );
}

function Whole({ agent }: { readonly agent: AgentDetail }) {
  const navigate = useNavigate();
  const { chat } = useSearch({ strict: false });
  const { data } = useQuery(conversationsQuery(agent.id));
  const [fresh] = useState(() => crypto.randomUUID());
  const conversations = data?.conversations ?? [];
  const tokens = conversations.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
  const open = (id: string) =>
    void navigate({
      to: "/agents/$agentId",
      params: { agentId: agent.id },
      search: { chat: id },
      replace: true,
    });
  // A conversation has its address from the start, so that a reload in the middle of a reply comes back to it.
  useEffect(() => {
    if (chat === undefined) open(fresh);
  });
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut">{agent.name}</h2>
        </div>
        <span className="muted cut">{agent.purpose}</span>
        <div className="acts">
          {agent.model !== null && (
            <span className="fact">
              <b>{agent.model}</b>
            </span>
          )}
          <span className="fact">
            <b className="num">{count(tokens)}</b> tokens
          </span>
        </div>
      </div>
      <div className="agent">
        <Conversations
          conversations={conversations}
          chosen={chat}
          agentId={agent.id}
          onNew={() => open(crypto.randomUUID())}
        />
        {chat && (
          <Suspense fallback={<div />}>
            <Chat key={chat} agentId={agent.id} name={agent.name} conversationId={chat} />
          </Suspense>
        )}
        <WhatItIs agent={agent} />
      </div>
    </>
  );
}

function Conversations({
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
  return (
    <nav className="talks" aria-label="Conversations">
      <button type="button" className="btn" onClick={onNew}>
        New conversation
      </button>
      {conversations.map(({ conversationId, title, updatedAt, usage }) => (
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
        </Link>
      ))}
      {conversations.length === 0 && <p className="faint">Conversations are kept here.</p>}
    </nav>
  );
}

function WhatItIs({ agent }: { readonly agent: AgentDetail }) {
  return (
    <aside className="what-it-is" aria-label="About the agent">
      <h3>Instructions</h3>
      <p className="muted">{agent.instructions ?? "Not shown to this caller."}</p>
      {agent.tools.length > 0 && <h3>Tools</h3>}
      {agent.tools.map(({ name, description }) => (
        <div key={name} className="tool-item">
          <span className="mono">{name}</span>
          <small>{description}</small>
        </div>
      ))}
      {agent.subAgents.length > 0 && <h3>Agents it can ask</h3>}
      {agent.subAgents.map((id) => (
        <div key={id} className="tool-item">
          <Link className="mono link" to="/agents/$agentId" params={{ agentId: id }}>
            {id}
          </Link>
        </div>
      ))}
      <h3>
        <Link className="link" to="/traces" search={{ agentId: agent.id }}>
          Its traces →
        </Link>
      </h3>
    </aside>
  );
}
