// The rows of the waterfall: steps by their start, each followed by the spans of its agents. A loop with many rounds is
// shown in pages.
import type { Span } from "@andante/client";
import type { Run } from "../../run/run-history.ts";
import { definitionPath, depthOf, lastName, type StepRun, tookOf } from "../../run/step-runs.ts";

export type WaterfallRow =
  | { readonly kind: "step"; readonly key: string; readonly depth: number; readonly run: StepRun }
  | {
      readonly kind: "span";
      readonly key: string;
      readonly depth: number;
      readonly span: Span;
      readonly path: string;
    }
  | {
      readonly kind: "rounds";
      readonly key: string;
      readonly depth: number;
      readonly path: string;
      readonly rounds: number;
      /** Milliseconds of each round, for the chart. */
      readonly durations: readonly number[];
    };

/** Rounds per page of a loop. */
export const roundsPerPage = 10;

export function waterfallRows(
  run: Run,
  spans: readonly Span[],
  pages: ReadonlyMap<string, number>,
): WaterfallRow[] {
  const rows: WaterfallRow[] = [];
  const steps = run.steps();
  const loops = roundsOf(steps);
  const listed = new Set<string>();
  const below = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId);
  for (const step of steps) {
    const [, loop, round] = /^(.*?)\[(\d+)\]/.exec(step.path) ?? [];
    if (loop !== undefined) {
      const durations = loops.get(loop) ?? [];
      if (durations.length > roundsPerPage && !listed.has(loop)) {
        listed.add(loop);
        const depth = depthOf(loop) + 1;
        rows.push({
          kind: "rounds",
          key: `${loop}[]`,
          depth,
          path: loop,
          rounds: durations.length,
          durations,
        });
      }
      const page = pages.get(loop) ?? 0;
      if (durations.length > roundsPerPage && Math.floor(Number(round) / roundsPerPage) !== page) continue;
    }
    rows.push({ kind: "step", key: step.path, depth: depthOf(step.path), run: step });
    rows.push(...spansBelow(spans, below, step));
  }
  return rows;
}

/** The rows of the steps that had begun, as they were then. */
export function rowsAt(rows: readonly WaterfallRow[], run: Run): WaterfallRow[] {
  return rows.flatMap((row): WaterfallRow[] => {
    if (row.kind !== "step") return run.get(row.path) === undefined && row.kind === "span" ? [] : [row];
    const then = run.get(row.run.path);
    return then === undefined ? [] : [{ ...row, run: then }];
  });
}

function roundsOf(steps: readonly StepRun[]): Map<string, number[]> {
  const loops = new Map<string, number[]>();
  for (const step of steps) {
    const [, loop, round] = /^(.*?)\[(\d+)\]/.exec(step.path) ?? [];
    if (loop === undefined) continue;
    const durations = loops.get(loop) ?? [];
    const index = Number(round);
    durations[index] = (durations[index] ?? 0) + (step.endAt === null ? 0 : tookOf(step, step.endAt));
    loops.set(loop, durations);
  }
  return loops;
}

/** The spans of a step's agents, including tools, with their depth. */
function spansBelow(spans: readonly Span[], below: ChildrenOf, step: StepRun): WaterfallRow[] {
  if (step.type !== "andAgent") return [];
  const root = spans.find(
    ({ attributes, name }) => attributes["andante.step.path"] === step.path || name === `step ${step.path}`,
  );
  return root === undefined ? [] : childrenOf(below, root.spanId, depthOf(step.path) + 1, step.path);
}

/** Spans that only repeat the step and its model calls: the whole call, and its checkpoints. */
const plumbing = /^(invoke_agent |checkpoint )/;

/** The spans by their parents. */
type ChildrenOf = Map<string | null, Span[]>;

/** Takes them out: a caller can choose the parent of an execution's own span, so parents may be a circle. */
function childrenOf(below: ChildrenOf, parent: string, depth: number, path: string): WaterfallRow[] {
  const children = below.get(parent) ?? [];
  below.delete(parent);
  return children
    .sort((one, other) => one.startTime.localeCompare(other.startTime))
    .flatMap((span): WaterfallRow[] => {
      if (plumbing.test(span.name)) return childrenOf(below, span.spanId, depth, path);
      const own: WaterfallRow = { kind: "span", key: span.spanId, depth, span, path };
      return [own, ...childrenOf(below, span.spanId, depth + 1, path)];
    });
}

/** The loop that contains a step, and the page of its round; undefined outside of loops. */
export function pageOf(path: string): { readonly loop: string; readonly page: number } | undefined {
  const [, loop, round] = /^(.*?)\[(\d+)\]/.exec(path) ?? [];
  return loop === undefined ? undefined : { loop, page: Math.floor(Number(round) / roundsPerPage) };
}

/** Whether a row shows the selected step, or a round of it. */
export function isSelected(row: WaterfallRow, selected: string | undefined): boolean {
  if (row.kind !== "step") return false;
  return row.run.path === selected || definitionPath(row.run.path) === selected;
}

/** A row's name, with the round for a step inside a loop. */
export function rowName(path: string): string {
  const round = /\[(\d+)\][^[\]]*$/.exec(path)?.[1];
  const name = lastName(path).replaceAll(/\[\d+\]/g, "");
  return round === undefined ? name : `${name} ${round}`;
}
