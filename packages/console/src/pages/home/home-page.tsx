// Home: running executions, the inbox, recent failures, and registered workflows and agents. Live.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  activityQuery,
  executionsQuery,
  inboxQuery,
  seesAll,
  serverQuery,
  workflowsQuery,
} from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Problem } from "../../components/problem.tsx";
import { Status } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { Page } from "../../layout/page.tsx";
import { CostToday } from "./cost-today.tsx";
import { Figures } from "./figures.tsx";
import { NotYet } from "./not-yet.tsx";
import { RecentExecutions } from "./recent-executions.tsx";
import { Registered } from "./registered.tsx";
import { ViewsCard } from "./views-card.tsx";
import { WaitingCard } from "./waiting-card.tsx";
import "./home.css";
import { RunForm } from "../workflows/run-form.tsx";

export function HomePage() {
  const { data: server, error } = useQuery(serverQuery);
  const { data: activity } = useQuery(activityQuery());
  const { data: inbox, error: inboxError } = useQuery(inboxQuery);
  const recent = useInfiniteQuery(executionsQuery({}, 8));
  const rows = recent.data?.pages[0]?.executions;
  // A chat may wait for a person before any workflow has run.
  const isNew = rows?.length === 0 && !inbox?.items.length;
  return (
    <Page
      title="Home"
      action={
        <Link to="/workflows" className="btn primary">
          Run a workflow
        </Link>
      }
    >
      <div className="content padded">
        <Problem error={error} what="The server does not respond as it should" />
        <div className="home">
          <Figures server={server} activity={activity} inbox={inbox} />
          <CostToday />
          {isNew ? (
            <Welcome />
          ) : (
            <>
              <WaitingCard inbox={inbox} error={inboxError} />
              <FailedCard />
              <RecentExecutions rows={rows} error={recent.error} />
            </>
          )}
          <Registered activity={activity} wide={isNew} />
          <ViewsCard />
        </div>
      </div>
    </Page>
  );
}

function FailedCard() {
  const { data, error: problem } = useInfiniteQuery(executionsQuery({ status: "error" }, 6));
  const failed = data?.pages[0]?.executions;
  return (
    <section className="card narrow fails">
      <h2>
        Failed lately
        <Link className="right quiet" to="/failures" search={{ since: "7d" }}>
          All failures →
        </Link>
      </h2>
      {failed === undefined ? (
        <NotYet error={problem} what="What failed cannot be read" />
      ) : failed.length === 0 ? (
        <div className="empty">
          <p>Nothing has failed. A step that throws, or runs out of attempts, appears here with its error.</p>
        </div>
      ) : (
        <table className="plain fixed">
          <tbody>
            {failed.slice(0, 6).map(({ executionId, workflowId, error, endAt, startAt }) => (
              <tr key={executionId} className="opens">
                <td>
                  <Status status="error" />
                </td>
                <td>
                  <ExecutionLink id={executionId}>
                    <b style={{ fontWeight: 560 }}>{workflowId}</b>
                    {error?.step && <span className="faint"> / {error.step}</span>}
                  </ExecutionLink>
                </td>
                <td className="muted" title={error?.message}>
                  {error?.message}
                </td>
                <td className="right faint num">
                  <Ago time={endAt ?? startAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Home before the first execution: the first workflow with an example input, and the same call as a command. */
function Welcome() {
  const { data: workflows } = useQuery(workflowsQuery);
  const { data: server } = useQuery(serverQuery);
  const [first] = workflows ?? [];
  return (
    <section className="card wide">
      <h2>{seesAll(server) ? "Nothing has run yet" : "You have run nothing yet"}</h2>
      <div style={{ padding: 16 }}>
        {!seesAll(server) && (
          <p className="muted" style={{ marginBottom: 12 }}>
            You see only your own executions; those of others are not listed.
          </p>
        )}
        {first === undefined ? (
          <p className="muted">
            Register a workflow with <code className="mono">serve</code>, and it can be started from here.
          </p>
        ) : (
          <>
            <p style={{ marginBottom: 12 }}>
              <b>{first.name}</b> <span className="muted">{first.purpose}</span>
            </p>
            <RunForm workflowId={first.id} />
            <p className="muted" style={{ marginTop: 16 }}>
              Or choose{" "}
              <Link className="link" to="/workflows">
                another workflow
              </Link>
              .
            </p>
          </>
        )}
      </div>
    </section>
  );
}
