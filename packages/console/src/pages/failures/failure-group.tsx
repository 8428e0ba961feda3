// One group of failed executions: its error, and its newest executions.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { failuresQuery } from "../../api/queries.ts";
import { DefinitionLink } from "../../components/definition-name.tsx";
import { NamedExecution } from "../../components/execution-link.tsx";
import { Problem } from "../../components/problem.tsx";
import { Ago, Clock } from "../../components/time.tsx";
import { count, plural } from "../../format/numbers.ts";
import { Skeleton } from "../../layout/page.tsx";

export function FailureGroup({
  id,
  from,
  since,
}: {
  readonly id: string;
  readonly from: string | undefined;
  readonly since: string;
}) {
  const { data, error, isPending } = useQuery(failuresQuery(from, id));
  const [group] = data?.groups ?? [];
  if (isPending) return <Skeleton />;
  if (group === undefined)
    return error === null ? (
      <div className="empty">
        <h2>Nothing failed in this way</h2>
        <p>No execution that started in this time belongs to the group.</p>
      </div>
    ) : (
      <Problem padded error={error} what="The failures cannot be read" />
    );
  const { workflowId, stepPath, name, message, firstAt, lastAt, executions = [] } = group;
  return (
    <>
      <div className="padded">
        <div className="failure-text" dir="auto" title={message}>
          <b style={{ fontWeight: 560 }}>{name}</b> {message}
        </div>
        <div className="row muted group-facts">
          <span>{plural(group.count, "execution")} of</span>
          <Link className="link" to="/workflows/$workflowId" params={{ workflowId }}>
            {workflowId}
          </Link>
          {stepPath !== null && (
            <span>
              in step <span className="mono">{stepPath}</span>
            </span>
          )}
          <span>
            first <Ago time={firstAt} suffix=" ago" />, last <Ago time={lastAt} suffix=" ago" />
          </span>
          <Link className="link" to="/executions" search={{ status: "error", workflowId, since }}>
            All failures of the workflow →
          </Link>
        </div>
      </div>
      <table className="plain" aria-label="Executions of the group">
        <thead>
          <tr>
            <th>Execution</th>
            <th>Failed</th>
            <th>Definition</th>
          </tr>
        </thead>
        <tbody>
          {executions.map(({ executionId, at, definition }) => (
            <tr key={executionId}>
              <td>
                <NamedExecution id={executionId} />
              </td>
              <td className="faint">
                <Clock time={at} />
              </td>
              <td>{definition && <DefinitionLink workflowId={workflowId} definition={definition} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {executions.length < group.count && (
        <p className="padded muted">Only the newest {count(executions.length)} are listed.</p>
      )}
      {data?.complete === false && <MoreFailures />}
    </>
  );
}

/** The note below failures that are not all counted. */
export function MoreFailures() {
  return <p className="padded muted">Only the newest 2000 failures are counted.</p>;
}
