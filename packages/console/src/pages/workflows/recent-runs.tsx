// The newest executions of one workflow, live.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { executionsQuery } from "../../api/queries.ts";
import { Status } from "../../components/status.tsx";
import { Ago, Elapsed } from "../../components/time.tsx";
import { shortId } from "../../format/numbers.ts";
import { Progress, useStepsCounts } from "../executions/row-cells.tsx";

export function RecentRuns({ workflowId }: { readonly workflowId: string }) {
  const { data } = useInfiniteQuery(executionsQuery({ workflowId }, 20));
  const counts = useStepsCounts();
  const rows = data?.pages[0]?.executions ?? [];
  if (data && rows.length === 0) return <p className="muted">It has not run yet.</p>;
  return (
    <section className="card">
      <table className="plain">
        <tbody>
          {rows.map((row) => (
            <tr key={row.executionId} className="opens">
              <td>
                <Status status={row.parked ? "parked" : row.status} />
              </td>
              <td>
                <Link
                  className="mono"
                  to="/executions/$executionId"
                  params={{ executionId: row.executionId }}
                >
                  {shortId(row.executionId)}
                </Link>
              </td>
              <td style={{ width: "30%" }}>
                <Progress row={row} counts={counts} />
              </td>
              <td className="right num">
                <Elapsed from={row.startAt} to={row.endAt} />
              </td>
              <td className="right faint">
                <Ago time={row.startAt} suffix=" ago" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p style={{ padding: "10px 16px" }}>
        <Link className="link" to="/executions" search={{ workflowId }}>
          All its executions →
        </Link>
      </p>
    </section>
  );
}
