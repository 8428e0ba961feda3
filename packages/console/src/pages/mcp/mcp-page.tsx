// The tools that clients of MCP may call: workflows, agents and tools for operators, and who has called them.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { address } from "../../api/andante.ts";
import { executionsQuery, serverQuery } from "../../api/queries.ts";
import { CopyButton } from "../../components/copy.tsx";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Problem } from "../../components/problem.tsx";
import { Ago } from "../../components/time.tsx";
import { count, plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { callersOf } from "./callers.ts";
import { type ExposedTool, toolsQuery } from "./mcp-client.ts";
import "./mcp.css";

export function McpPage() {
  const { data: server, isPending: isStarting } = useQuery(serverQuery);
  const isOn = server?.mcp === true;
  const { data: tools, error, isLoading } = useQuery({ ...toolsQuery, enabled: isOn });
  return (
    <Page title="MCP" note={tools && plural(tools.length, "tool")}>
      <div className="content">
        <Problem padded error={error} what="The tools cannot be read" />
        {(isStarting || isLoading) && <Skeleton />}
        {server !== undefined && !isOn && (
          <div className="empty">
            <h2>MCP is off</h2>
            <p>
              Coding agents and chat clients call workflows and agents as tools. Give{" "}
              <code className="mono">serve</code> the option <code className="mono">mcp</code> with the ids
              that they may call: <code className="mono">{'mcp: { expose: ["publish"] }'}</code>.
            </p>
          </div>
        )}
        {tools !== undefined && (
          <div className="tools">
            <p className="row">
              <span className="muted">Clients connect to</span>{" "}
              <code className="mono cut">{address("/mcp")}</code>
              <CopyButton quiet label="Copy the address" text={address("/mcp")} />
            </p>
            {tools.length === 0 && <p className="muted">You may call none of its tools.</p>}
            {tools.map((tool) => (
              <Tool key={tool.name} tool={tool} />
            ))}
          </div>
        )}
      </div>
    </Page>
  );
}

function Tool({ tool }: { readonly tool: ExposedTool }) {
  const { name, title, description, workflowId, agentId, inputSchema, outputSchema } = tool;
  return (
    <section className="card" aria-label={name}>
      <h2>
        <span className="mono">{name}</span>
        {title !== undefined && title !== name && <small>{title}</small>}
        <span className="right">
          {workflowId !== undefined && (
            <Link className="link" to="/workflows/$workflowId" params={{ workflowId }}>
              workflow {workflowId}
            </Link>
          )}
          {agentId !== undefined && (
            <Link className="link" to="/agents/$agentId" params={{ agentId }}>
              agent {agentId}
            </Link>
          )}
          {workflowId === undefined && agentId === undefined && "for operators"}
        </span>
      </h2>
      <p>{description}</p>
      {workflowId !== undefined && <Callers workflowId={workflowId} />}
      <details>
        <summary>Schemas</summary>
        <div className="schemas">
          <div>
            <h3>Input</h3>
            <JsonView label={`Input of ${name}`} value={inputSchema} />
          </div>
          {outputSchema !== undefined && (
            <div>
              <h3>Output</h3>
              <JsonView label={`Output of ${name}`} value={outputSchema} />
            </div>
          )}
        </div>
      </details>
    </section>
  );
}

/** Executions of a workflow whose callers are counted. */
const counted = 100;

function Callers({ workflowId }: { readonly workflowId: string }) {
  const { data, error } = useInfiniteQuery(executionsQuery({ workflowId }, counted));
  const callers = callersOf(data?.pages[0]?.executions ?? []);
  if (error !== null) return <Problem padded error={error} what="Its executions cannot be read" />;
  if (data === undefined) return <span className="skeleton" />;
  if (callers.length === 0)
    return <p className="muted">None of the newest {counted} executions was started by a client of MCP.</p>;
  return (
    <table className="plain">
      <thead>
        <tr>
          <th>Client</th>
          <th>User</th>
          <th className="right" title={`Of the newest ${counted} executions`}>
            Calls
          </th>
          <th>Last execution</th>
          <th className="right">Last call</th>
        </tr>
      </thead>
      <tbody>
        {callers.map(({ client, userId, tag, calls, lastAt, lastId }) => (
          <tr key={`${tag} ${userId}`}>
            <td dir="auto">{client}</td>
            <td dir="auto">{userId ?? <span className="faint">–</span>}</td>
            <td className="right num">
              <Link
                className="link"
                to="/executions"
                search={{ workflowId, tag, ...(userId !== null && { userId }) }}
              >
                {count(calls)}
                <span className="hidden-label">
                  {" "}
                  executions by {client} {userId}
                </span>
              </Link>
            </td>
            <td>
              <ExecutionLink className="link mono" id={lastId} />
            </td>
            <td className="right faint">
              <Ago time={lastAt} suffix=" ago" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
