// The runs of steps, folded from the events of a journal: all of them, or those up to a scrubber's position.
import type { Step, Suspension, Usage } from "@andante/client";
import type { ExecutionEvent } from "../api/types.ts";

export type StepStatus =
  | "running"
  | "retrying"
  | "suspended"
  | "completed"
  | "error"
  | "skipped"
  | "cancelled";

export interface Attempt {
  readonly startAt: number;
  endAt: number | null;
  /** The error of a failed attempt; undefined otherwise. */
  error?: string | undefined;
  /** It resumes a suspended step and does not count as a further attempt. */
  readonly resumed?: true;
}

/** One run of one step: a step inside a loop has one per round. */
export interface StepRun {
  /** With `[n]` for rounds. */
  readonly path: string;
  readonly type: string;
  readonly stepIndex: number;
  status: StepStatus;
  readonly startAt: number;
  endAt: number | null;
  /** Milliseconds of its suspensions that were resumed. */
  waited: number;
  readonly attempts: Attempt[];
  input: unknown;
  output: unknown;
  error: string | undefined;
  usage: Usage | undefined;
  suspension: Suspension | undefined;
  /** The numbers of its first and its last event. */
  readonly first: number;
  last: number;
}

export interface Run {
  /** By path, in the order in which they started. */
  readonly steps: ReadonlyMap<string, StepRun>;
  /** The state that the steps have set, by key. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly startAt: number;
  readonly endAt: number | null;
  /** The time of the last event. */
  readonly lastAt: number;
}

export function errorText(error: ExecutionEvent["error"]): string | undefined {
  return typeof error === "object" ? `${error.name}: ${error.message}` : error;
}

export function foldRun(events: readonly ExecutionEvent[]): Run {
  const steps = new Map<string, StepRun>();
  const state: Record<string, unknown> = {};
  const startAt = Date.parse(events[0]?.timestamp ?? new Date(0).toISOString());
  let endAt: number | null = null;
  let lastAt = startAt;
  for (const event of events) {
    lastAt = Date.parse(event.timestamp);
    if (event.type === "state-changed") Object.assign(state, event.state);
    else if (event.type.startsWith("workflow-")) endAt = applyToAll(steps, event, lastAt) ?? endAt;
    else if (event.type === "execution-rewound") forget(steps, event.stepIndex ?? 0);
    else if (event.stepPath !== undefined && !event.stepPath.includes("#"))
      apply(steps, event, event.stepPath, lastAt);
  }
  return { steps, state, startAt, endAt, lastAt };
}

function apply(steps: Map<string, StepRun>, event: ExecutionEvent, path: string, at: number): void {
  const { sequence = 0 } = event;
  const known = steps.get(path);
  const run: StepRun = known ?? {
    path,
    type: event.stepType ?? "",
    stepIndex: event.stepIndex ?? 0,
    status: "running",
    startAt: at,
    endAt: null,
    waited: 0,
    attempts: [],
    ...{ input: undefined, output: undefined, error: undefined, usage: undefined, suspension: undefined },
    first: sequence,
    last: sequence,
  };
  run.last = sequence;
  steps.set(path, run);
  applyEvent(run, event, at);
}

function applyEvent(run: StepRun, event: ExecutionEvent, at: number): void {
  const attempt = run.attempts.at(-1);
  const end = (status: StepStatus) => {
    run.status = status;
    run.endAt = at;
    if (attempt !== undefined && attempt.endAt === null) attempt.endAt = at;
  };
  switch (event.type) {
    case "step-start":
      run.status = "running";
      run.endAt = null;
      run.input = event.input;
      run.attempts.push({ startAt: at, endAt: null });
      return;
    case "step-complete":
      run.output = event.output;
      run.usage = event.usage;
      return end("completed");
    case "step-skipped":
      return end("skipped");
    case "step-bailed":
      run.output = event.result;
      return end("completed");
    case "step-error":
      run.error = errorText(event.error);
      if (attempt !== undefined) attempt.error = run.error;
      return end("error");
    case "step-retry": {
      run.status = "retrying";
      run.error = errorText(event.error);
      if (attempt !== undefined) Object.assign(attempt, { endAt: at, error: run.error });
      const next = event.retryAt === undefined ? at : Date.parse(event.retryAt);
      run.attempts.push({ startAt: next, endAt: null });
      return;
    }
    case "step-suspended":
      run.suspension = event.suspension;
      return end("suspended");
    default:
      return;
  }
}

/** Applies an event of the whole execution. Returns the end time of a final event. */
function applyToAll(steps: Map<string, StepRun>, event: ExecutionEvent, at: number): number | undefined {
  if (event.type === "workflow-suspended") {
    const path = event.suspension?.stepPath;
    const run = path === undefined ? undefined : steps.get(path);
    if (run === undefined) return undefined;
    run.endAt ??= at;
    const attempt = run.attempts.at(-1);
    if (attempt !== undefined) attempt.endAt ??= at;
    Object.assign(run, {
      status: "suspended",
      suspension: event.suspension,
      last: event.sequence ?? run.last,
    });
    return undefined;
  }
  if (event.type === "workflow-resumed") {
    const run = event.stepPath === undefined ? undefined : steps.get(event.stepPath);
    if (run === undefined) return undefined;
    if (run.endAt !== null) run.waited += at - run.endAt;
    Object.assign(run, {
      status: "running",
      endAt: null,
      suspension: undefined,
      last: event.sequence ?? run.last,
    });
    run.attempts.push({ startAt: at, endAt: null, resumed: true });
    return undefined;
  }
  const isEnd =
    event.type === "workflow-complete" ||
    event.type === "workflow-error" ||
    event.type === "workflow-cancelled";
  if (!isEnd) return undefined;
  for (const run of steps.values()) {
    if (run.endAt !== null && run.status !== "suspended") continue;
    run.status =
      event.type === "workflow-error" && run.type !== "" && hasFailedChild(steps, run.path)
        ? "error"
        : "cancelled";
    run.endAt ??= at;
  }
  return at;
}

function hasFailedChild(steps: ReadonlyMap<string, StepRun>, path: string): boolean {
  for (const [other, run] of steps)
    if (run.status === "error" && (other.startsWith(`${path}/`) || other.startsWith(`${path}[`))) return true;
  return false;
}

/** Removes the runs at or after this top-level step. */
function forget(steps: Map<string, StepRun>, stepIndex: number): void {
  for (const [path, run] of steps) if (run.stepIndex >= stepIndex) steps.delete(path);
}

/** Its duration, up to `at` for a running step, without the time of suspensions. */
export function tookOf({ startAt, endAt, waited }: StepRun, at: number): number {
  return (endAt ?? at) - startAt - waited;
}

/** The number of attempts; a resume does not count. */
export function attemptsOf({ attempts }: Pick<StepRun, "attempts">): number {
  return attempts.filter(({ resumed }) => resumed === undefined).length;
}

/** The step of a definition at this path. */
export function findStep(steps: readonly Step[], path: readonly string[]): Step | undefined {
  const [first, ...rest] = path;
  const found = steps.find(({ id }) => id === first);
  return rest.length === 0 ? found : findStep(found?.steps ?? [], rest);
}

/** The path of a step in its definition, without rounds. */
export function definitionPath(path: string): string {
  return path.replaceAll(/\[\d+\]/g, "");
}

/** The last name of a path, with its round: `each[3]/resize` → resize. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The depth of a path. */
export function depthOf(path: string): number {
  return path.split("/").length - 1;
}

/** One status for all rounds of a step: unfinished and failed rounds take precedence. */
export function statusOfRounds(runs: readonly StepRun[]): StepStatus | undefined {
  const order: readonly StepStatus[] = [
    "error",
    "suspended",
    "retrying",
    "running",
    "cancelled",
    "completed",
    "skipped",
  ];
  return order.find((status) => runs.some((run) => run.status === status));
}
