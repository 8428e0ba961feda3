// All agents.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import { agentsQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import "../workflows/workflows.css";

export function AgentsPage() {
  const { data: agents, error, isPending } = useQuery(agentsQuery);
  return (
    <Page title="Agents" note={agents && plural(agents.length, "agent")}>
      <div className="content padded">
        <Problem error={error} what="The agents cannot be read" />
        {isPending && <Skeleton />}
        {agents?.length === 0 && (
          <div className="empty">
            <h2>No agent is registered</h2>
            <p>
              An agent is instructions, a model and tools under one name. Make one with{" "}
              <code className="mono">new Agent</code> and pass it to <code className="mono">serve</code>.
            </p>
          </div>
        )}
        <div className="cards">
          {agents?.map(({ id, name, purpose, model, tools, subAgents }) => (
            <Link key={id} to="/agents/$agentId" params={{ agentId: id }} className="card definition">
              <h2>
                <Bot className="agent-mark" aria-hidden="true" />
                {name} <span className="mono faint">{id === name ? "" : id}</span>
              </h2>
              <p>{purpose}</p>
              <div className="numbers">
                {model !== null && <span>{model}</span>}
                {tools.length > 0 && <span>{plural(tools.length, "tool")}</span>}
                {subAgents.length > 0 && <span>{plural(subAgents.length, "sub-agent")}</span>}
              </div>
            </Link>
          ))}
        </div>
      </div>
    </Page>
  );
}
