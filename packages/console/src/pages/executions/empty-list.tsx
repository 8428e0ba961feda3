// The empty list: no execution matches the filters, or none has run yet.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { workflowsQuery } from "../../api/queries.ts";
import { RunForm } from "../workflows/run-form.tsx";

export function EmptyList({ isFiltered }: { readonly isFiltered: boolean }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const [first] = workflows;
  if (isFiltered) {
    return (
      <div className="empty">
        <h2>Nothing matches these filters</h2>
        <p>
          <Link className="link" to="/executions" search={{}}>
            Show all executions
          </Link>
        </p>
      </div>
    );
  }
  return (
    <div className="empty">
      <h2>Nothing has run yet</h2>
      <p>
        {first === undefined ? (
          <>
            Register a workflow with <code className="mono">serve</code>; each run of it is an execution and
            appears here.
          </>
        ) : (
          `Each run of a workflow is an execution and appears here. Start with ${first.name}:`
        )}
      </p>
      {first && <RunForm workflowId={first.id} />}
    </div>
  );
}
