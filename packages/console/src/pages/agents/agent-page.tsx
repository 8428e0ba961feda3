// One agent: its conversations, the chat, its instructions and tools.
import type { AgentDetail } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { newId } from "../../api/new-id.ts";
import { agentQuery, conversationsQuery, replySpansQuery } from "../../api/queries.ts";
import { Fact } from "../../components/fact.tsx";
import { lazyPart } from "../../components/late-code.tsx";
import { Problem } from "../../components/problem.tsx";
import { Status } from "../../components/status.tsx";
import { count, duration, plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { useSearchChange } from "../../layout/search.ts";
import { type KeptMessages, loadMessages } from "./kept-messages.ts";
import { ModelCalls } from "./model-calls.tsx";
import { type ReplyFacts, replyFacts } from "./reply-facts.ts";
import { Talks } from "./talks.tsx";
import "../execution/execution.css";
import "./agent.css";

const approvalWords = {
  always: "A person must allow each call of it",
  sometimes: "A person must allow some calls of it",
} as const;

const noTools: ReadonlyMap<string, number> = new Map();

const Chat = lazyPart(() => import("./chat.tsx"));

export function AgentPage() {
  const { agentId = "" } = useParams({ strict: false });
  const { data: agent, error, isPending } = useQuery(agentQuery(agentId));
  return (
    <Page title={agent?.name ?? agentId} crumbs={[{ name: "Agents", to: "/agents" }]}>
      <Problem padded error={error} what={`Agent ${agentId} cannot be shown`} />
      {isPending && <Skeleton />}
      {/* Nothing of one agent stays on the page of another. */}
      {agent && <Whole key={agent.id} agent={agent} />}
    </Page>
  );
}

function Whole({ agent }: { readonly agent: AgentDetail }) {
  const change = useSearchChange();
  const { chat } = useSearch({ strict: false });
  const { data } = useQuery(conversationsQuery(agent.id));
  const [isAbout, setIsAbout] = useState(false);
  const conversations = data?.conversations ?? [];
  const tokens = conversations.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
  const { data: traces } = useQuery({
    ...replySpansQuery(agent.id, chat ?? ""),
    enabled: conversations.some(({ conversationId }) => conversationId === chat),
  });
  const facts = useMemo(() => replyFacts(traces ?? []), [traces]);
  const begun = useRef<string>(undefined);
  const begin = useCallback(() => {
    begun.current = newId();
    change({ chat: begun.current });
  }, [change]);
  const load = useCallback(async (conversationId: string): Promise<KeptMessages> => {
    if (begun.current !== conversationId) return loadMessages(conversationId);
    // A conversation that has just begun is not on the server. The next time it may be.
    begun.current = undefined;
    return { messages: [], older: null };
  }, []);
  // A conversation has its address from the start, so that a reload during a reply returns to it. Opening the page
  // without an id starts a new conversation.
  useEffect(() => {
    if (chat === undefined) begin();
  }, [chat, begin]);
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut">{agent.name}</h2>
        </div>
        <span className="muted cut">{agent.purpose}</span>
        <div className="acts">
          {agent.model !== null && <Fact value={agent.model} />}
          {data && (
            <Fact
              title="Of the newest 100 conversations"
              value={count(tokens)}
              after={`tokens in ${plural(conversations.length, "conversation")}`}
            />
          )}
          {facts?.firstWord !== undefined && (
            <Fact
              title="Of the newest reply in this conversation"
              before="first token"
              value={duration(facts.firstWord)}
            />
          )}
          <button
            type="button"
            className="btn show-about"
            aria-expanded={isAbout}
            onClick={() => setIsAbout(!isAbout)}
          >
            {isAbout ? "Show the chat" : "Show its details"}
          </button>
        </div>
      </div>
      <div className="agent" data-about={isAbout || undefined}>
        <Talks chosen={chat} agentId={agent.id} onNew={begin} />
        {chat && (
          <Suspense fallback={<div />}>
            <Chat
              key={chat}
              agentId={agent.id}
              name={agent.name}
              conversationId={chat}
              load={load}
              tools={facts?.tools ?? noTools}
            />
          </Suspense>
        )}
        <WhatItIs agent={agent} facts={facts} />
      </div>
    </>
  );
}

function WhatItIs({ agent, facts }: { readonly agent: AgentDetail; readonly facts: ReplyFacts | undefined }) {
  return (
    <aside className="what-it-is" aria-label="About the agent">
      <h3>Instructions</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <p className="muted instructions" tabIndex={0}>
        {agent.instructions ?? "You may not see these."}
      </p>
      {agent.tools.length > 0 && <h3>Tools</h3>}
      {agent.tools.map(({ name, description, approval }) => (
        <div key={name} className="tool-item">
          <span className="row">
            <span className="mono grow cut">{name}</span>
            {approval && (
              <span title={approvalWords[approval]}>
                <Status status="waiting" word="approval" />
              </span>
            )}
          </span>
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
      {facts && (
        <>
          <h3>This reply</h3>
          <p className="muted num">
            {plural(facts.calls.length, "model call")} · {count(facts.inputTokens)} in,{" "}
            {count(facts.outputTokens)} out
          </p>
          <p>
            <Link className="link" to="/traces/$traceId" params={{ traceId: facts.traceId }}>
              open trace →
            </Link>
          </p>
          <ModelCalls calls={facts.calls} />
        </>
      )}
      <h3>
        <Link className="link" to="/traces" search={{ agentId: agent.id }}>
          Its traces →
        </Link>
      </h3>
    </aside>
  );
}
