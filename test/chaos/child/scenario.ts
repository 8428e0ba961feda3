// A scenario: a workflow, its input, and how the world outside treats its executions.
import type { ExecutionSuspension } from "@andante/core";
import type { WorkflowDefinition } from "@andante/core/internal";
import type { Bodies } from "./bodies.ts";

export interface Scenario {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  /** The resume data for a suspension of a step; undefined leaves it open. Depends on nothing but the suspension. */
  answer?(suspension: ExecutionSuspension): Answer | undefined;
  /** Pauses the execution from outside, once, when the step at this path has started. */
  readonly pauseAt?: string;
  /** Cancels the execution when the step at this path has started. */
  readonly cancelAt?: string;
}

export interface Answer {
  readonly resumeData: unknown;
  /** An earlier top-level step to go back to. */
  readonly stepId?: string;
}

/** Makes a scenario out of recorded bodies. */
export type MakeScenario = (bodies: Bodies) => Scenario;

/** The context of every execution; it must reach every body of every life. */
export const callerContext = { tenant: "north", flags: { dryRun: false, limits: [1, 2.5, null] } };
export const callerUserId = "user-7";
