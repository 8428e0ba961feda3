// The registered workflows and agents, with the load of each.
import type { Activity } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import { agentsQuery, workflowsQuery } from "../../api/queries.ts";
import { count, plural, shortCount } from "../../format/numbers.ts";
import { NotYet } from "./not-yet.tsx";

const most = 8;

export function Registered({
  activity,
  wide,
}: {
  readonly activity: Activity | undefined;
  readonly wide: boolean;
}) {
  const { data: workflows = [], error, isSuccess } = useQuery(workflowsQuery);
  const { data: agents = [], error: agentsError, isSuccess: knowsAgents } = useQuery(agentsQuery);
  const started = new Map(activity?.workflows.map((each) => [each.workflowId, each.started]));
  return (
    <section className={`card registered ${wide ? "narrow" : "narrower"}`}>
      <h2>
        Registered
        {isSuccess && knowsAgents && (
          <span className="right">
            {plural(workflows.length, "workflow")} · {plural(agents.length, "agent")}
          </span>
        )}
      </h2>
      {workflows.slice(0, most).map(({ id, stepsCount }) => (
        <Link key={id} to="/workflows/$workflowId" params={{ workflowId: id }}>
          <span className="cut">{id}</span>
          <span className="faint num" style={{ whiteSpace: "nowrap" }}>
            {plural(stepsCount, "step")}
            {activity && ` · ${shortCount(started.get(id) ?? 0)}/h`}
          </span>
        </Link>
      ))}
      {workflows.length > most && (
        <Link to="/workflows">
          <span className="faint">{count(workflows.length - most)} more</span>
        </Link>
      )}
      {agents.slice(0, most).map(({ id, tools, model }) => (
        <Link key={id} to="/agents/$agentId" params={{ agentId: id }}>
          <span className="cut">
            <Bot className="agent-mark" aria-label="agent" />
            {id}
          </span>
          <span className="faint cut">
            {[tools.length > 0 && plural(tools.length, "tool"), model].filter(Boolean).join(" · ")}
          </span>
        </Link>
      ))}
      {!(isSuccess && knowsAgents) && (
        <NotYet error={error ?? agentsError} what="What is registered cannot be read" />
      )}
      {isSuccess && knowsAgents && workflows.length + agents.length === 0 && (
        <div className="empty">
          <p>
            Nothing is registered. Pass workflows and agents to <code className="mono">serve</code>.
          </p>
        </div>
      )}
    </section>
  );
}
