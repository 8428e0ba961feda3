// One run of a step, its path, and its look: `run-history.ts` folds them from the events of a journal.
import type { Step, Suspension, Usage } from "@andante/client";
import type { ExecutionEvent } from "../api/types.ts";

export type StepStatus =
  | "running"
  | "retrying"
  | "suspended"
  | "sleeping"
  | "completed"
  | "error"
  | "skipped"
  | "cancelled";

export interface Attempt {
  readonly startAt: number;
  readonly endAt: number | null;
  /** The error of a failed attempt; undefined otherwise. */
  readonly error?: string | undefined;
  /** It resumes a suspended step and does not count as a further attempt. */
  readonly resumed?: true;
}

/** One run of one step at one position of the journal: a step inside a loop has one per round. */
export interface StepRun {
  /** With `[n]` for rounds. */
  readonly path: string;
  readonly type: string;
  readonly stepIndex: number;
  /** A container waits or sleeps when all of its open steps do. */
  readonly status: StepStatus;
  readonly startAt: number;
  /** The end; for a waiting step the time since which it waits. */
  readonly endAt: number | null;
  /** Milliseconds of its waits that are over. */
  readonly waited: number;
  readonly attempts: readonly Attempt[];
  readonly input: unknown;
  readonly output: unknown;
  readonly error: string | undefined;
  readonly usage: Usage | undefined;
  /** Its open suspensions: its own, and those of its tools and models. */
  readonly suspensions: readonly Suspension[];
  /** When the next attempt starts. */
  readonly retryAt: number | undefined;
  /** The position of its first event. */
  readonly first: number;
}

/** A result inside a step that is kept: a checkpoint, a call of an agent, an evaluated function. */
export interface Checkpoint {
  /** The position of its event. */
  readonly position: number;
  /** The part of its path after `#`. */
  readonly name: string;
  readonly startAt: number;
  readonly endAt: number;
  readonly output: unknown;
  /** The error of a failed attempt, which is followed by another at `retryAt`. */
  readonly error: string | undefined;
  readonly retryAt: number | undefined;
}

/** The answer to a suspension. */
export interface Answer {
  /** The position of its event. */
  readonly position: number;
  readonly suspension: Suspension;
  readonly answeredAt: number;
  readonly userId: string | undefined;
  /** No person answered: the deadline passed. */
  readonly byDeadline: boolean;
  readonly data: unknown;
}

export function errorText(error: ExecutionEvent["error"]): string | undefined {
  return typeof error === "object" ? `${error.name}: ${error.message}` : error;
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

/** The id of the top-level step of a path. */
export function topLevelId(path: string): string {
  return path.split(/[/[#]/, 1)[0] ?? path;
}

/** The depth of a path. */
export function depthOf(path: string): number {
  return path.split("/").length - 1;
}

/** The statuses of a step with several rounds, the one that is shown for all of them first. */
export const statusesOfRounds: readonly StepStatus[] = [
  "error",
  "suspended",
  "retrying",
  "running",
  "sleeping",
  "cancelled",
  "completed",
  "skipped",
];

/** The step of a path: a checkpoint such as `charge#card` belongs to `charge`. */
export function ownerPath(path: string): string {
  const end = path.indexOf("#");
  return end === -1 ? path : path.slice(0, end);
}
