// The durations, failures and tokens of each step over the last day.
import type { Step, StepActivity, WorkflowDetail } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { stepActivityQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { count, duration, plural } from "../../format/numbers.ts";

export function StepFigures({ workflow }: { readonly workflow: WorkflowDetail }) {
  const { data, error } = useQuery(stepActivityQuery(workflow.id));
  const figures = new Map(data?.steps.map((step) => [step.stepPath, step]));
  const longest = Math.max(1, ...[...figures.values()].map(({ p95 }) => p95 ?? 0));
  const hasTokens = data?.steps.some(({ tokens }) => tokens > 0) ?? false;
  return (
    <section className="card">
      <h2>
        Steps <small>{spanWords(data)}</small>
      </h2>
      <Problem error={error} what="The figures cannot be shown" />
      <table className="plain step-figures">
        <thead>
          <tr>
            <th>Step</th>
            <th style={{ width: "28%" }}>p95</th>
            <th className="right">p50</th>
            <th className="right">p95</th>
            <th className="right">Completed</th>
            <th className="right">Failed</th>
            {hasTokens && <th className="right">Tokens</th>}
          </tr>
        </thead>
        <tbody>
          {[...pathsOf(workflow.steps)].map(({ path, name, depth }) => {
            const {
              p50 = null,
              p95 = null,
              completed = 0,
              failed = 0,
              retried = 0,
              tokens = 0,
            } = figures.get(path) ?? {};
            return (
              <tr key={path}>
                <td style={{ paddingLeft: 14 + 14 * depth }}>{name}</td>
                <td>
                  <span className="share" style={{ width: `${(100 * (p95 ?? 0)) / longest}%` }} />
                </td>
                <td className="right num">{p50 === null ? "–" : duration(p50)}</td>
                <td className="right num">{p95 === null ? "–" : duration(p95)}</td>
                <td className="right num">{count(completed)}</td>
                <td
                  className="right num"
                  style={failed > 0 ? { color: "var(--bad)" } : {}}
                  title={
                    retried > 0
                      ? `${plural(retried, "failed attempt was", "failed attempts were")} retried`
                      : undefined
                  }
                >
                  {count(failed)}
                </td>
                {hasTokens && <td className="right num">{tokens === 0 ? "–" : count(tokens)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function spanWords(data: StepActivity | undefined): string {
  if (data === undefined) return "";
  return data.runs === null ? "of the last 24 hours" : `of your latest ${plural(data.runs, "run")}`;
}

/** Every step with its path, containers before their steps. */
function* pathsOf(
  steps: readonly Step[],
  parent = "",
  depth = 0,
): Generator<{ readonly path: string; readonly name: string; readonly depth: number }> {
  for (const { id, name, steps: inner = [] } of steps) {
    const path = parent === "" ? id : `${parent}/${id}`;
    yield { path, name, depth };
    yield* pathsOf(inner, path, depth + 1);
  }
}
