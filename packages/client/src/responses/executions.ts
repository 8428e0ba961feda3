// What the server says about workflows and their executions.

export type JsonSchema = Readonly<Record<string, unknown>>;

export type ExecutionStatus = "running" | "suspended" | "completed" | "error" | "cancelled";

/** Tokens and calls of models. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly calls: number;
  /** Those of `inputTokens` that came from the provider's cache; absent when none is known of. */
  readonly cachedInputTokens?: number | undefined;
  /** Those of `outputTokens` that the model thought with; absent when none is known of. */
  readonly reasoningTokens?: number | undefined;
}

export interface WorkflowSummary<Id extends string = string> {
  readonly id: Id;
  readonly name: string;
  readonly purpose: string;
  readonly stepsCount: number;
  readonly status: "idle" | "running" | "suspended" | "completed" | "error";
}

export interface Step {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly purpose: string;
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
  readonly suspendSchema?: JsonSchema | undefined;
  readonly resumeSchema?: JsonSchema | undefined;
  /** Of a container: the steps inside. */
  readonly steps?: readonly Step[] | undefined;
}

export interface WorkflowDetail extends WorkflowSummary {
  readonly steps: readonly Step[];
  readonly inputSchema: JsonSchema;
  readonly resultSchema: JsonSchema | null;
  readonly suspendSchema: JsonSchema | null;
  readonly resumeSchema: JsonSchema | null;
}

export interface WorkflowExample {
  /** An input that the workflow accepts. */
  readonly input: unknown;
  /** Commands for a shell. */
  readonly calls: readonly string[];
}

/** Where an execution waits. Times are ISO 8601. */
export interface Suspension {
  readonly suspensionId: string;
  readonly suspendedAt: string;
  /** "" when the step gave none. */
  readonly reason: string;
  /** The index of the top-level step, also when something inside it waits. */
  readonly suspendedStepIndex: number;
  readonly stepIndex: number;
  readonly stepId: string;
  /** Absent for a pause. */
  readonly stepPath?: string | undefined;
  /** What the step passed to `suspend`. */
  readonly data?: unknown;
  /** What resume data must look like. */
  readonly resumeSchema?: JsonSchema | undefined;
  /** When it ends by itself; absent when it waits for ever. */
  readonly deadline?: string | undefined;
}

interface ResultFields {
  readonly executionId: string;
  readonly startAt: string;
  readonly endAt: string | null;
  /** Why it failed: the step's own words only when it threw a `PublicError`. */
  readonly error?: string | undefined;
  /** What its agents used, when there were any. */
  readonly usage?: Usage | undefined;
}

interface CompletedResult<Result> extends ResultFields {
  readonly status: "completed";
  /** The workflow's output; null when its last step gave nothing. */
  readonly result: Result extends undefined ? null : Result;
  readonly suspension?: Suspension | undefined;
}

interface SuspendedResult<Result> extends ResultFields {
  readonly status: "suspended";
  readonly result: NoResult<Result>;
  /** The first that is open. */
  readonly suspension: Suspension;
}

interface OtherResult<Result> extends ResultFields {
  readonly status: "running" | "error" | "cancelled";
  readonly result: NoResult<Result>;
  /** Also while other branches run. */
  readonly suspension?: Suspension | undefined;
}

/** Where nothing is known of the result, nothing is gained by telling it from null. */
type NoResult<Result> = unknown extends Result ? unknown : null;

/** How an execution stands. Once `status` is `completed` there is a `result`; while `suspended`, a `suspension`. */
export type ExecutionResult<Result = unknown> =
  | CompletedResult<Result>
  | SuspendedResult<Result>
  | OtherResult<Result>;

export interface ReplayOf {
  readonly executionId: string;
  readonly stepId: string;
}

/** What an execution is marked with, where it is. */
interface Marks {
  readonly tags?: readonly string[] | undefined;
  /** No process may run it: the workflow has changed, and this says what. */
  readonly parked?: { readonly reason: string } | undefined;
  readonly replayOf?: ReplayOf | undefined;
}

interface StateFields<Input> extends Marks {
  readonly workflowId: string;
  readonly input: Input;
  readonly context: Readonly<Record<string, unknown>>;
  /** Every open suspension, when there is one. */
  readonly suspensions?: readonly Suspension[] | undefined;
}

/** An execution in full. */
export type ExecutionState<Result = unknown, Input = unknown> = ExecutionResult<Result> & StateFields<Input>;

export interface SuspendResult {
  readonly executionId: string;
  readonly status: "suspended";
  readonly suspension: Suspension;
}

/** An execution in a list. */
export interface ExecutionSummary extends Marks {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  readonly startAt: string;
  readonly endAt: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** The top-level step that runs now or comes next. */
  readonly stepIndex: number;
  readonly error?:
    | { readonly name: string; readonly message: string; readonly step?: string | undefined }
    | undefined;
}

export interface ExecutionPage {
  readonly executions: readonly ExecutionSummary[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}
