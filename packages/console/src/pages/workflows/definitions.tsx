// The definitions of a workflow that processes have registered, and the executions that fit none of them.
import type { DefinitionHistory } from "@andante/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { definitionsQuery, executionsQuery } from "../../api/queries.ts";
import { DefinitionName } from "../../components/definition-name.tsx";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Problem } from "../../components/problem.tsx";
import { Ago } from "../../components/time.tsx";
import { count } from "../../format/numbers.ts";

export function Definitions({ workflowId }: { readonly workflowId: string }) {
  const { data, error } = useQuery(definitionsQuery(workflowId));
  return (
    <>
      <Parked workflowId={workflowId} />
      <section className="card definitions" aria-label="Definitions">
        <h2>
          Definitions <small>by their last use, to within an hour</small>
        </h2>
        <Problem error={error} what="The definitions cannot be shown" />
        <table className="plain">
          <thead>
            <tr>
              <th>Fingerprint</th>
              <th>Steps</th>
              <th className="right">First</th>
              <th className="right">Last</th>
              <th className="right">Open</th>
            </tr>
          </thead>
          <tbody>
            {data?.definitions.map((each, index) => (
              <tr key={each.definition}>
                <td>
                  <DefinitionName definition={each.definition} /> {each.isCurrent && <b>current</b>}
                </td>
                <td className="steps">
                  <Change steps={each.steps} before={data.definitions[index + 1]?.steps} />
                </td>
                <td className="right faint">{each.firstAt && <Ago time={each.firstAt} suffix=" ago" />}</td>
                <td className="right faint">{each.lastAt && <Ago time={each.lastAt} suffix=" ago" />}</td>
                <td className="right num">{count(each.open)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {data?.complete === false && (
          <p className="padded muted">Open executions are the newest 500 of each status.</p>
        )}
      </section>
    </>
  );
}

type Steps = DefinitionHistory["definitions"][number]["steps"];

/** The top-level steps; compared with the definition in the row below, those that were added and removed. */
function Change({ steps, before }: { readonly steps: Steps; readonly before: Steps | undefined }) {
  if (steps === null) return null;
  if (before == null) return <span className="muted">{steps.join(", ")}</span>;
  const added = steps.filter((step) => !before.includes(step));
  const removed = before.filter((step) => !steps.includes(step));
  if (added.length + removed.length === 0)
    return <span className="muted">the same steps in another order, or changed inside</span>;
  return (
    <>
      {added.map((step) => (
        <span key={step}>+ {step} </span>
      ))}
      {removed.map((step) => (
        <span key={step} className="muted">
          − {step}{" "}
        </span>
      ))}
    </>
  );
}

/** The newest executions that no process may run, each with the reason. */
function Parked({ workflowId }: { readonly workflowId: string }) {
  const { data } = useInfiniteQuery(executionsQuery({ workflowId, parked: true }, 20));
  const rows = data?.pages[0]?.executions ?? [];
  if (data === undefined) return null;
  if (rows.length === 0) return <p className="muted">No execution is parked: each fits a definition.</p>;
  return (
    <section className="card definitions" aria-label="Parked executions">
      <h2>
        Parked <small>no process may run them; cancel them, replay them, or deploy steps that fit</small>
      </h2>
      <table className="plain">
        <tbody>
          {rows.map(({ executionId, startAt, parked }) => (
            <tr key={executionId}>
              <td>
                <ExecutionLink className="link mono" id={executionId} />
              </td>
              <td dir="auto">{parked?.reason}</td>
              <td className="right faint">
                <Ago time={startAt} suffix=" ago" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p style={{ padding: "10px 16px" }}>
        <Link className="link" to="/executions" search={{ workflowId, parked: "true" }}>
          All parked executions →
        </Link>
      </p>
    </section>
  );
}
