// What a step's body is given when it runs.
import type { Logger } from "../observe/logger.ts";

/** Input and output of an earlier step, as `getStepData` returns them. */
export interface StepData {
  readonly input: unknown;
  readonly output: unknown;
}

/** The types that flow into one step: its data, the workflow's input, the answer it may get. */
export interface StepTypes {
  readonly data: unknown;
  readonly input: unknown;
  readonly resume: unknown;
  readonly suspend: unknown;
}

/** The context of a running body. Each attempt gets a new one with its own copy of the data. */
export interface StepContext<T extends StepTypes = StepTypes> {
  /** The output of the step before; the workflow's input for the first one. */
  readonly data: T["data"];
  /** The input of the workflow that holds this step. */
  readonly input: T["input"];
  readonly executionId: string;
  readonly workflowId: string;
  /** The address of this step inside the execution, such as `fan-out/left`. */
  readonly stepPath: string;
  /** 1 for the first attempt. A run after a crash or a resume is no new attempt. */
  readonly attempt: number;
  /** The same on every attempt and every node: pass it to the services that this body calls. */
  readonly idempotencyKey: string;
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** The entries of the caller's `options.context` and, when authenticated, `user` and `userId`. */
  readonly context: ReadonlyMap<string, unknown>;
  /** The answer to this step's suspension: undefined until resumed, null when the answer was empty. */
  readonly resumeData: T["resume"] | undefined;
  /** The data that this step gave to `suspend` before it was resumed. */
  readonly suspendData: T["suspend"] | undefined;
  /**
   * Stops here until someone resumes the execution. Never returns: write `return suspend("…")`.
   * After the resume THE BODY RUNS AGAIN FROM ITS TOP, then with `resumeData`.
   */
  suspend(reason?: string, data?: T["suspend"]): never;
  /** Input and output of a step that has completed, by id or path; undefined when there is none. */
  getStepData(stepIdOrPath: string): StepData | undefined;
  /** Aborted when the execution is cancelled, loses its race or must stop; never on a suspension. */
  readonly signal: AbortSignal;
  /** Its lines carry the ids of this execution and this step. */
  readonly logger: Logger;
  /** The W3C header of this step's span: send it to the services that this body calls. Absent when there is no trace. */
  readonly traceparent: string | undefined;
}

/** The context of a condition or a prompt: a body without suspension. */
export type FunctionContext<Data = unknown, Input = unknown> = Omit<
  StepContext<{ data: Data; input: Input; resume: never; suspend: never }>,
  "suspend" | "resumeData" | "suspendData"
>;
