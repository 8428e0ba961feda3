// The interpreter's requests to its driver. The interpreter itself does no I/O and keeps no clock.

import type { Failure } from "../../journal/failure.ts";
import type { LoopRound, Resumption } from "../../journal/journal.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { JsonText } from "../../values/json.ts";
import type { Schema } from "../../values/schema.ts";
import { childPath } from "../../values/step-path.ts";
import type { Step, WorkflowDefinition } from "../../workflow/step.ts";

/** The workflow a step belongs to, as its bodies see it. */
export interface Scope {
  readonly workflow: WorkflowDefinition;
  /** The input of that workflow. */
  readonly input: JsonText;
  /** The index of the top-level step that everything here is part of. */
  readonly stepIndex: number;
}

/** The place of a step: its definition, its path, its data. */
export interface Place {
  readonly step: Step;
  readonly path: string;
  readonly data: JsonText;
  readonly scope: Scope;
}

/** A user function to run: the step's own body, or one beside it such as `condition`. */
export interface RunCommand {
  readonly kind: "run";
  readonly place: Place;
  /** The step's path for its body, `path#name` for a function beside it. */
  readonly path: string;
  readonly function: "execute" | "condition" | "prompt" | "agent" | "items" | "duration" | "date";
  /** The function's argument beside the data: the prompt for an agent, its number for the condition of a branch. */
  readonly extra: JsonText;
  /** The resume data of the suspension that this run follows, as JSON text. */
  readonly resumeData: string | undefined;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** How often it has waited for another attempt of a checkpoint before. */
  readonly waits: number;
}

export type Command =
  | RunCommand
  /** A container begins. The reply is its outcome when that is known already. */
  | { readonly kind: "enter"; readonly place: Place }
  /** A container has ended. */
  | { readonly kind: "leave"; readonly place: Place; readonly outcome: Outcome }
  /** Wait at this path until a time, or this many milliseconds after the step's start. The reply is that time. */
  | { readonly kind: "until"; readonly place: Place; readonly path: string; readonly at: WakeTime }
  /** The time at which this many milliseconds have passed since the step's start, pauses not counted. */
  | { readonly kind: "limit"; readonly place: Place; readonly after: number }
  /** The current round of a loop that had passed its first one when the execution was loaded. */
  | { readonly kind: "round"; readonly place: Place }
  /** Wait until the suspension that is open at this place is resumed. */
  | { readonly kind: "await-resume"; readonly place: Place }
  /** Wait until one of the suspensions that are open at these paths is resumed, or the time of one of the sleeps has come. */
  | ({ readonly kind: "await-calls" } & WaitingCalls)
  /** Check a value against a schema; not journaled, since its consequences are. */
  | {
      readonly kind: "check";
      readonly schema: Schema;
      readonly value: JsonText;
      readonly path: string;
      readonly what: string;
      /** Steps made it; otherwise it may be the caller's, and the check has a time limit. */
      readonly isOwn: boolean;
    }
  /**
   * Run branches at once. All: until each has succeeded or one has failed. Race: until one has succeeded or all failed.
   * First: until one has ended in any way.
   */
  | BranchesCommand;

/** The waits of the calls of an agent. */
export interface WaitingCalls {
  readonly paths: readonly string[];
  /** Default: none. */
  readonly sleeps?: readonly { readonly path: string; readonly until: number }[] | undefined;
}

/** Branches that run at once: `count` of them, at most `limit` under way, each made when its turn comes. */
export interface BranchesCommand {
  readonly kind: "all" | "race" | "first";
  readonly count: number;
  readonly limit: number;
  open(index: number): Interpretation;
  /** The path of a branch's first step; undefined for a branch that begins with none. */
  firstPath(index: number): string | undefined;
}

/** Milliseconds since 1970, or after the start of the step. */
export type WakeTime = number | { readonly after: number };

/** A run of the interpreter: yields commands, receives their replies, returns how it ended. */
export type Interpretation = Generator<Command, Outcome, unknown>;

/** Runs the steps of a chain one after the other below `parent`; ends with the last output or the first error. */
export type Sequence = (
  steps: readonly Step[],
  parent: string,
  data: JsonText,
  scope: Scope,
) => Interpretation;

/**
 * How a user function ended this time; `retry`: it failed, and this attempt comes next, not before `at`; `wait`: it runs
 * again then, because the next attempt of one of its checkpoints comes no earlier.
 */
export type RunReply =
  | Outcome
  | { readonly kind: "suspended" }
  | ({ readonly kind: "calls-suspended" } & WaitingCalls)
  | { readonly kind: "retry"; readonly attempt: number; readonly at: number }
  | { readonly kind: "wait"; readonly waits: number; readonly at: number };

// The replies below are the driver's promises for each kind of command; these functions are the only place
// where that promise is written down as a type.

export interface RunOptions {
  readonly path: string;
  readonly extra: JsonText;
  readonly resumeData: string | undefined;
  readonly attempt: number;
  readonly waits: number;
}

export function* run(
  place: Place,
  name: RunCommand["function"],
  { path, extra, resumeData, attempt, waits }: RunOptions,
): Generator<Command, RunReply, unknown> {
  const command = { kind: "run", place, function: name, path, extra, resumeData, attempt, waits } as const;
  return (yield command) as RunReply;
}

export function* until(place: Place, path: string, at: WakeTime): Generator<Command, number, unknown> {
  return (yield { kind: "until", place, path, at }) as number;
}

export function* limit(place: Place, after: number): Generator<Command, number, unknown> {
  return (yield { kind: "limit", place, after }) as number;
}

export function* enter(place: Place): Generator<Command, Outcome | undefined, unknown> {
  return (yield { kind: "enter", place }) as Outcome | undefined;
}

/** The outcome as it was recorded: one that is too large to be kept is a failure instead. */
export function* leave(place: Place, outcome: Outcome): Generator<Command, Outcome, unknown> {
  const recorded = (yield { kind: "leave", place, outcome }) as Outcome | undefined;
  return recorded ?? outcome;
}

export function* waitForResume(place: Place): Generator<Command, Resumption, unknown> {
  return (yield { kind: "await-resume", place }) as Resumption;
}

export function* findRound(place: Place): Generator<Command, LoopRound | undefined, unknown> {
  return (yield { kind: "round", place }) as LoopRound | undefined;
}

export function* check(
  schema: Schema | undefined,
  value: JsonText,
  path: string,
  what: string,
  isOwn: boolean,
): Generator<Command, { readonly kind: "output"; readonly value: JsonText } | FailedOutcome, unknown> {
  if (schema === undefined) return { kind: "output", value };
  return (yield { kind: "check", schema, value, path, what, isOwn }) as
    | { kind: "output"; value: JsonText }
    | FailedOutcome;
}

export type FailedOutcome = { readonly kind: "error"; readonly error: Failure };

/** The path of the first of these steps below `parent`. */
export function firstOf([first]: readonly Step[], parent: string): string | undefined {
  return first && childPath(parent, first.id);
}

/** Runs branches at once; the outcomes are in their order, undefined for those that did not end. */
export function* together(command: BranchesCommand): Generator<Command, Joined, unknown> {
  return (yield command) as Joined;
}

/** How branches ended together: each one's outcome, and the one that decided. */
export interface Joined {
  readonly outcomes: readonly (Outcome | undefined)[];
  readonly decisive: Outcome;
}
