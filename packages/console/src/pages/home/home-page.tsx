// Home: running executions, the inbox, recent failures, and registered workflows and agents. Live.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { activityQuery, executionsQuery, inboxQuery, serverQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { Status } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { Page } from "../../layout/page.tsx";
import { Figures } from "./figures.tsx";
import { NotYet } from "./not-yet.tsx";
import { RecentExecutions } from "./recent-executions.tsx";
import { Registered } from "./registered.tsx";
import { WaitingCard } from "./waiting-card.tsx";
import { Welcome } from "./welcome.tsx";
import "./home.css";

export function HomePage() {
  const { data: server, error } = useQuery(serverQuery);
  const { data: activity } = useQuery(activityQuery());
  const { data: inbox, error: inboxError } = useQuery(inboxQuery);
  const recent = useInfiniteQuery(executionsQuery({}, 8));
  const rows = recent.data?.pages[0]?.executions;
  const isNew = rows?.length === 0;
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
        <Link className="right quiet" to="/executions" search={{ status: "error" }}>
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
                  <Link to="/executions/$executionId" params={{ executionId }}>
                    <b style={{ fontWeight: 560 }}>{workflowId}</b>
                    {error?.step && <span className="faint"> / {error.step}</span>}
                  </Link>
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
