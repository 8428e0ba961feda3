// Failed executions in groups of the same error: which errors are frequent, since when, and where.
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { failuresQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Problem } from "../../components/problem.tsx";
import { Ago } from "../../components/time.tsx";
import { Page, Skeleton } from "../../layout/page.tsx";
import { spanOf, spans } from "../executions/spans.ts";
import "../executions/executions.css";

const usual = "24h";

export function FailuresPage() {
  const { since = usual } = useSearch({ strict: false });
  const { data, error, isPending } = useQuery(failuresQuery(spanOf(since)?.from));
  return (
    <Page title="Failures">
      <div className="filters">
        {spans.map(([key, label]) => (
          <Link
            key={key}
            to="/failures"
            search={key === usual ? {} : { since: key }}
            className={since === key ? "chip on" : "chip"}
          >
            {label}
          </Link>
        ))}
      </div>
      <div className="content">
        <Problem error={error} what="The failures cannot be read" />
        {isPending && <Skeleton />}
        {data?.groups.length === 0 && (
          <div className="empty">
            <h2>Nothing failed</h2>
            <p>
              Executions that end with an error are listed here in groups: the same workflow, step and error,
              with messages that differ only in ids and numbers.
            </p>
          </div>
        )}
        {data !== undefined && data.groups.length > 0 && (
          <table className="plain">
            <thead>
              <tr>
                <th className="right" style={{ paddingLeft: 24 }}>
                  Executions
                </th>
                <th style={{ width: "45%" }}>Error</th>
                <th>Workflow</th>
                <th>Step</th>
                <th className="right">First</th>
                <th className="right">Last</th>
                <th style={{ paddingRight: 24 }}>Newest</th>
              </tr>
            </thead>
            <tbody>
              {data.groups.map(
                ({ workflowId, stepPath, name, message, count, firstAt, lastAt, executionId }) => (
                  <tr key={JSON.stringify([workflowId, stepPath, name, message])}>
                    <td className="right num" style={{ paddingLeft: 24 }}>
                      <Link className="link" to="/executions" search={{ status: "error", workflowId, since }}>
                        {count}
                        <span className="hidden-label"> failed executions of {workflowId}</span>
                      </Link>
                    </td>
                    <td>
                      <div className="failure-text" dir="auto" title={message}>
                        <b style={{ fontWeight: 560 }}>{name}</b> {message}
                      </div>
                    </td>
                    <td>
                      <Link to="/workflows/$workflowId" params={{ workflowId }}>
                        {workflowId}
                      </Link>
                    </td>
                    <td className="mono faint">{stepPath}</td>
                    <td className="right faint">
                      <Ago time={firstAt} suffix=" ago" />
                    </td>
                    <td className="right faint">
                      <Ago time={lastAt} suffix=" ago" />
                    </td>
                    <td style={{ paddingRight: 24 }}>
                      <ExecutionLink className="quiet mono" id={executionId} />
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        )}
        {data?.complete === false && (
          <p className="padded muted">Only the newest 2000 failures are counted.</p>
        )}
      </div>
    </Page>
  );
}
