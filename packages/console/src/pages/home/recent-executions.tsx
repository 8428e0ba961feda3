// The newest executions, live.
import { Link, useNavigate } from "@tanstack/react-router";
import type { ExecutionSummary } from "../../api/types.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Elapsed, useFresh } from "../../components/time.tsx";
import { Progress, RowStatus, StepAt, useStepsCounts } from "../executions/row-cells.tsx";
import { NotYet } from "./not-yet.tsx";

export function RecentExecutions({
  rows,
  error,
}: {
  readonly rows: readonly ExecutionSummary[] | undefined;
  readonly error: unknown;
}) {
  const counts = useStepsCounts();
  return (
    <section className="card wider recent">
      <h2>
        Executions <small>live</small>
        <Link className="right quiet" to="/executions">
          All →
        </Link>
      </h2>
      <table className="plain fixed">
        <thead>
          <tr>
            <th>Status</th>
            <th>Workflow</th>
            <th>Execution</th>
            <th>At</th>
            <th>Steps</th>
            <th className="right">Duration</th>
          </tr>
        </thead>
        <tbody>
          {rows?.map((row) => (
            <Row key={row.executionId} row={row} counts={counts} />
          ))}
        </tbody>
      </table>
      {rows === undefined && <NotYet error={error} what="The executions cannot be read" />}
    </section>
  );
}

function Row({
  row,
  counts,
}: {
  readonly row: ExecutionSummary;
  readonly counts: ReadonlyMap<string, number>;
}) {
  const navigate = useNavigate();
  const { executionId } = row;
  const fresh = useFresh(row.status, row.stepPath);
  const open = () => void navigate({ to: "/executions/$executionId", params: { executionId } });
  return (
    <tr className={fresh ? "opens fresh" : "opens"} onClick={open} style={{ cursor: "pointer" }}>
      <td>
        <RowStatus row={row} />
      </td>
      <td>{row.workflowId}</td>
      <td>
        <ExecutionLink className="mono" id={executionId} />
      </td>
      <td className="muted" title={row.explanation?.sentence}>
        <StepAt row={row} alone />
      </td>
      <td>
        <Progress row={row} counts={counts} />
      </td>
      <td className="right num">
        <Elapsed from={row.startAt} to={row.endAt} />
      </td>
    </tr>
  );
}
