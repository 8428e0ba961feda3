// Hooks of a workflow: called after each commit.
import { DefinitionError } from "../errors/index.ts";
import type { Logger } from "../observe/log/logger.ts";
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";

/** The argument of every hook. */
export interface HookContext {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  readonly context: ReadonlyMap<string, unknown>;
  /** When the event was recorded. */
  readonly timestamp: Date;
  readonly logger: Logger;
}

/** An error as hooks receive it. */
export interface HookFailure {
  readonly name: string;
  readonly message: string;
  /** The path of the step that failed. */
  readonly step?: string | undefined;
}

/** How a step ended. */
export type StepOutcome =
  | { readonly kind: "output"; readonly output: unknown }
  | { readonly kind: "skipped" }
  | { readonly kind: "error"; readonly error: HookFailure }
  /** It called `bail` with this, or something inside it did. */
  | { readonly kind: "bailed"; readonly result: unknown };

export interface StartHookContext<Input = unknown> extends HookContext {
  readonly input: Input;
  /** Set when the execution replays another one. */
  readonly replayOf: { readonly executionId: string; readonly stepId: string } | undefined;
}

export interface StepEndHookContext extends HookContext {
  readonly stepId: string;
  readonly stepPath: string;
  readonly stepIndex: number;
  readonly stepType: string;
  readonly outcome: StepOutcome;
}

export interface SuspendHookContext extends HookContext {
  readonly suspensionId: string;
  readonly reason: string;
  /** The data that the step passed to `suspend`. */
  readonly data: unknown;
  readonly stepIndex: number;
  /** The step that waits; undefined when the execution was suspended from outside. */
  readonly stepPath: string | undefined;
  /** Who suspended it from outside, when that is known. */
  readonly suspendedBy: string | undefined;
}

export interface EndHookContext<Result = unknown> extends HookContext {
  readonly status: "completed" | "error" | "cancelled";
  /** The workflow's output; undefined unless completed. */
  readonly result: Result | undefined;
  /** Why it failed, in full. */
  readonly error: HookFailure | undefined;
  /** Why it was cancelled, when the caller said so. */
  readonly reason: string | undefined;
  /** Who cancelled it, when that is known. */
  readonly cancelledBy: string | undefined;
}

/**
 * Functions that are called by the process that made a commit, once it is made. Nothing waits for them, and one that
 * throws is logged and changes nothing. A process that dies right after a commit may call no hook: work that must
 * happen belongs in a step. A workflow inside another one (`andWorkflow`) has no executions of its own, so its hooks are not
 * called.
 */
export interface WorkflowHooks<Input = unknown, Result = unknown> {
  /** An execution was created. */
  onStart?(context: StartHookContext<Input>): unknown;
  /** A step ended, containers and the steps inside them too. */
  onStepEnd?(context: StepEndHookContext): unknown;
  /** An execution went idle at a suspension, or was suspended from outside. */
  onSuspend?(context: SuspendHookContext): unknown;
  /** An execution completed, failed, was cancelled or given up. */
  onEnd?(context: EndHookContext<Result>): unknown;
}

const knownHooks: KnownOptions<WorkflowHooks> = {
  onStart: true,
  onStepEnd: true,
  onSuspend: true,
  onEnd: true,
};

export function checkHooks(hooks: unknown, where: string): void {
  if (hooks === undefined) return;
  if (typeof hooks !== "object" || hooks === null) {
    throw new DefinitionError({ where, problem: "hooks must be an object of functions" });
  }
  checkKnownOptions(`${where}, hooks`, hooks, knownHooks);
  for (const [name, hook] of Object.entries(hooks)) {
    if (hook !== undefined && typeof hook !== "function") {
      throw new DefinitionError({ where, problem: `the hook ${name} must be a function` });
    }
  }
}
