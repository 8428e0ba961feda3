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

/** A row with its place among all rows. */
interface PlacedRow {
  readonly place: number;
  readonly row: WaterfallRow;
}

/** The rows of a run: those that are always shown, and the pages of its long loops. */
export interface WaterfallParts {
  readonly always: readonly PlacedRow[];
  readonly pages: ReadonlyMap<string, readonly (readonly PlacedRow[] | undefined)[]>;
}

export function waterfallParts(run: Run, spans: readonly Span[]): WaterfallParts {
  const steps = run.steps().map((step) => ({ step, round: roundOf(step.path) }));
  const loops = durationsOf(steps);
  const below = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId);
  const always: PlacedRow[] = [];
  const pages = new Map<string, PlacedRow[][]>();
  let place = 0;
  for (const { step, round } of steps) {
    const durations = (round && loops.get(round.loop)) ?? [];
    const isPaged = round !== undefined && durations.length > roundsPerPage;
    if (isPaged && !pages.has(round.loop)) {
      const { loop: path } = round;
      pages.set(path, []);
      const counts = { depth: depthOf(path) + 1, path, rounds: durations.length, durations };
      always.push({ place: place++, row: { kind: "rounds", key: `${path}[]`, ...counts } });
    }
    const list = isPaged ? pageIn(pages.get(round.loop) ?? [], round.page) : always;
    list.push({
      place: place++,
      row: { kind: "step", key: step.path, depth: depthOf(step.path), run: step },
    });
    for (const row of spansBelow(spans, below, step)) list.push({ place: place++, row });
  }
  return { always, pages };
}

function pageIn(pages: PlacedRow[][], page: number): PlacedRow[] {
  const rows = pages[page] ?? [];
  pages[page] = rows;
  return rows;
}

/** The rows with one page of each long loop. */
export function shownRows(
  { always, pages }: WaterfallParts,
  chosen: ReadonlyMap<string, number>,
): WaterfallRow[] {
  const paged = [...pages].flatMap(([loop, rows]) => rows[chosen.get(loop) ?? 0] ?? []);
  return [...always, ...paged].sort((one, other) => one.place - other.place).map(({ row }) => row);
}

/** The rows of the steps that had begun, as they were then. */
export function rowsAt(rows: readonly WaterfallRow[], run: Run): WaterfallRow[] {
  return rows.flatMap((row): WaterfallRow[] => {
    if (row.kind !== "step") return run.get(row.path) === undefined && row.kind === "span" ? [] : [row];
    const then = run.get(row.run.path);
    if (then === undefined) return [];
    return [then === row.run ? row : { ...row, run: then }];
  });
}

interface Round {
  /** The path of the outermost loop around a step. */
  readonly loop: string;
  readonly round: number;
  readonly page: number;
}

/** The round of a step, and the page that shows it; undefined outside of loops. */
export function roundOf(path: string): Round | undefined {
  const [, loop, number] = /^(.*?)\[(\d+)\]/.exec(path) ?? [];
  const round = Number(number);
  return loop === undefined ? undefined : { loop, round, page: Math.floor(round / roundsPerPage) };
}

/** The milliseconds of each round, by loop. */
function durationsOf(
  steps: readonly { readonly step: StepRun; readonly round: Round | undefined }[],
): Map<string, number[]> {
  const loops = new Map<string, number[]>();
  for (const { step, round: at } of steps) {
    if (at === undefined) continue;
    const durations = loops.get(at.loop) ?? [];
    const took = step.endAt === null ? 0 : tookOf(step, step.endAt);
    durations[at.round] = (durations[at.round] ?? 0) + took;
    loops.set(at.loop, durations);
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
