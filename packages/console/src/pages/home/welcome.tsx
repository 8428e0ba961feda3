// Home before the first execution: the first workflow with an example input, and the same call as a command.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { workflowsQuery } from "../../api/queries.ts";
import { RunForm } from "../workflows/run-form.tsx";

export function Welcome() {
  const { data: workflows } = useQuery(workflowsQuery);
  const [first] = workflows ?? [];
  return (
    <section className="card wide">
      <h2>Nothing has run yet</h2>
      <div style={{ padding: 16 }}>
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
