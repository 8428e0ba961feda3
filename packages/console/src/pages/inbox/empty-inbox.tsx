// The inbox when nothing waits: what it is for, and a workflow that would fill it.
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { workflowQuery, workflowsQuery } from "../../api/queries.ts";
import type { Step } from "../../api/types.ts";

function asks(steps: readonly Step[]): boolean {
  return steps.some((step) => step.resumeSchema !== undefined || asks(step.steps ?? []));
}

export function EmptyInbox() {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const details = useQueries({ queries: workflows.slice(0, 20).map(({ id }) => workflowQuery(id)) });
  const example = details
    .flatMap(({ data }) => data ?? [])
    .find(({ steps, resumeSchema }) => resumeSchema !== null || asks(steps));
  return (
    <div className="empty">
      <h2>Nothing waits for a person</h2>
      <p>
        A step that calls <code className="mono">suspend</code> waits here, with its reason, its data and a
        form made from its resume schema. Whoever answers it sees the execution continue at once.
      </p>
      {example && (
        <p>
          <Link
            className="btn primary"
            to="/workflows/$workflowId"
            params={{ workflowId: example.id }}
            search={{ tab: "run" }}
          >
            Run {example.name}, which asks
          </Link>
        </p>
      )}
    </div>
  );
}
