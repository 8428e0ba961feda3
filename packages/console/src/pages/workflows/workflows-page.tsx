// All workflows, with the load of each.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { activityQuery, workflowsQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { count, duration, plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import "./workflows.css";

export function WorkflowsPage() {
  const { data: workflows, error, isPending } = useQuery(workflowsQuery);
  const { data: activity } = useQuery(activityQuery());
  const known = new Map(activity?.workflows.map((each) => [each.workflowId, each]));
  return (
    <Page title="Workflows" note={workflows && plural(workflows.length, "workflow")}>
      <div className="content padded">
        <Problem error={error} what="The workflows cannot be read" />
        {isPending && <Skeleton />}
        {workflows?.length === 0 && (
          <div className="empty">
            <h2>No workflow is registered</h2>
            <p>
              A workflow is a chain of steps that survives a crash. Define one with{" "}
              <code className="mono">createWorkflow</code> and pass it to <code className="mono">serve</code>.
            </p>
          </div>
        )}
        <div className="cards">
          {workflows?.map(({ id, name, purpose, stepsCount }) => {
            const busy = known.get(id);
            return (
              <Link
                key={id}
                to="/workflows/$workflowId"
                params={{ workflowId: id }}
                className="card definition"
              >
                <h2>
                  {name} <span className="mono faint">{id === name ? "" : id}</span>
                </h2>
                <p>{purpose}</p>
                <div className="numbers num">
                  <span>{plural(stepsCount, "step")}</span>
                  <span>{count(busy?.started ?? 0)} in the last hour</span>
                  {busy?.p50 != null && <span>p50 {duration(busy.p50)}</span>}
                  {busy !== undefined && busy.failed > 0 && (
                    <span style={{ color: "var(--bad)" }}>{count(busy.failed)} failed</span>
                  )}
                </div>
              </Link>
            );
          })}
        </div>
      </div>
    </Page>
  );
}
