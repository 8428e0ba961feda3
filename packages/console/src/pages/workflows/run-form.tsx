// Starts a workflow from a form with an example filled in; the same call as a shell command below it.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { andante } from "../../api/andante.ts";
import { exampleQuery, workflowQuery } from "../../api/queries.ts";
import { CopyButton } from "../../components/copy.tsx";
import { Problem } from "../../components/problem.tsx";
import { LazyForm } from "../../form/lazy-form.tsx";

export function RunForm({ workflowId }: { readonly workflowId: string }) {
  const navigate = useNavigate();
  const { data: workflow, error } = useQuery(workflowQuery(workflowId));
  const { data: example } = useQuery(exampleQuery(workflowId));
  if (error !== null) return <Problem error={error} what={`${workflowId} cannot be shown`} />;
  if (workflow === undefined || example === undefined) return <span className="skeleton" />;
  const run = async (input: unknown) => {
    const { executionId } = await andante.workflow(workflowId).start(input);
    await navigate({ to: "/executions/$executionId", params: { executionId } });
  };
  return (
    <>
      <LazyForm
        key={workflowId}
        schema={workflow.inputSchema}
        initial={example.input}
        submit="Run"
        onSubmit={run}
      />
      <div className="row call-row">
        <pre className="mono cut grow">{example.calls[0]}</pre>
        <CopyButton text={example.calls[0] ?? ""} label="Copy as curl" />
      </div>
    </>
  );
}
