// The empty inbox: its purpose, and a workflow that would fill it.
import type { Step } from "@andante/client";
import { useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { andante } from "../../api/andante.ts";
import { exampleQuery, workflowQuery, workflowsQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";

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
      {example && <TryIt id={example.id} name={example.name} />}
    </div>
  );
}

/** Starts the workflow with its example input; its suspension then replaces this view. */
function TryIt({ id, name }: { readonly id: string; readonly name: string }) {
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: async () => {
      const { input } = await client.fetchQuery(exampleQuery(id));
      return andante.workflow(id).start(input);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["inbox"] }),
  });
  return (
    <>
      <p>
        <button
          type="button"
          className="btn primary"
          disabled={start.isPending}
          onClick={() => start.mutate()}
        >
          Try it: run {name}
        </button>
      </p>
      {start.isSuccess && <p role="status">{name} runs; what it asks appears here.</p>}
      <Problem error={start.error} what={`${name} was not started`} />
    </>
  );
}
