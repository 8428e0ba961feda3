// How long each step takes and how often it fails, from the journals of the latest runs.
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { executionsQuery, readEvents } from "../../api/queries.ts";
import type { WorkflowDetail } from "../../api/types.ts";
import { foldRun } from "../../run/step-runs.ts";
import { duration, plural } from "../../words/numbers.ts";

/** Runs that are read: enough to see what is slow, few enough to be read when somebody looks. */
const runs = 20;

interface Figure {
  readonly durations: number[];
  failed: number;
}

export function StepFigures({ workflow }: { readonly workflow: WorkflowDetail }) {
  const { data } = useInfiniteQuery(executionsQuery({ workflowId: workflow.id }, runs));
  const ids = data?.pages[0]?.executions.map(({ executionId }) => executionId) ?? [];
  const journals = useQueries({
    queries: ids.slice(0, runs).map((id) => ({
      queryKey: ["journal-figures", id],
      queryFn: ({ signal }: { signal: AbortSignal }) => readEvents(id, 0, signal),
      staleTime: 60_000,
    })),
  });
  const figures = new Map<string, Figure>(workflow.steps.map(({ id }) => [id, { durations: [], failed: 0 }]));
  for (const { data: events } of journals) {
    if (events === undefined) continue;
    for (const [path, step] of foldRun(events).steps) {
      const figure = figures.get(path);
      if (figure === undefined) continue;
      if (step.status === "error") figure.failed += 1;
      if (step.status === "completed" && step.endAt !== null)
        figure.durations.push(step.endAt - step.startAt);
    }
  }
  const longest = Math.max(1, ...[...figures.values()].map(({ durations }) => at(durations, 0.95) ?? 0));
  return (
    <section className="card">
      <h2>
        Steps <small>of the latest {plural(ids.length, "run")}</small>
      </h2>
      <table className="plain">
        <thead>
          <tr>
            <th>Step</th>
            <th style={{ width: "35%" }}>p95</th>
            <th className="right">p50</th>
            <th className="right">p95</th>
            <th className="right">Failed</th>
          </tr>
        </thead>
        <tbody>
          {workflow.steps.map(({ id, name }) => {
            const { durations = [], failed = 0 } = figures.get(id) ?? {};
            const [p50, p95] = [at(durations, 0.5), at(durations, 0.95)];
            return (
              <tr key={id}>
                <td>{name}</td>
                <td>
                  <span className="share" style={{ width: `${(100 * (p95 ?? 0)) / longest}%` }} />
                </td>
                <td className="right num">{p50 === undefined ? "–" : duration(p50)}</td>
                <td className="right num">{p95 === undefined ? "–" : duration(p95)}</td>
                <td className="right num" style={failed > 0 ? { color: "var(--bad)" } : {}}>
                  {failed}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function at(durations: readonly number[], share: number): number | undefined {
  const sorted = [...durations].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
