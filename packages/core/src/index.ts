// The public surface of @andante/core: the names that hosts use every day. Held to eighty names by test/public-face.test.ts.
//
// Beside it: /errors has every error class, /store the contract of a store, /store-cases its tests, /test tools to
// test workflows and agents. /internal is for the other packages and the tests of this repository.
import "./require-node.ts";

export { Agent } from "./agent/agent.ts";
export type { AgentOptions } from "./agent/call/agent-options.ts";
export { durable } from "./agent/call/durable.ts";
export type { AgentHooks } from "./agent/call/hooks.ts";
export type { AgentUsage, OperationContext } from "./agent/call/operation.ts";
export { operationContext } from "./agent/call/operation.ts";
export { scheduleTools } from "./agent/call/schedule-tools.ts";
export { workflowTool } from "./agent/call/workflow-tool.ts";
export type { TextReply } from "./agent/reply/text-reply.ts";
export type { Andante, ExecutionStream } from "./andante/andante.ts";
export type { AndanteOptions } from "./andante/andante-options.ts";
export { createAndante } from "./andante/create-andante.ts";
export { AndanteError, PermanentError, PublicError } from "./errors/index.ts";
export { defineEvent } from "./event/define-event.ts";
export { isControlFlow } from "./execution/body/control-flow-signal.ts";
export type { CancelOptions } from "./execution/commands/cancel.ts";
export type { ExecutionHandle } from "./execution/commands/execution-handle.ts";
export type { ExecutionPage, ListOptions } from "./execution/commands/list.ts";
export type { SuspendOptions } from "./execution/commands/pause.ts";
export type { ReplayOptions } from "./execution/commands/replay.ts";
export type { ResumeOptions } from "./execution/commands/resume.ts";
export type { StartOptions } from "./execution/commands/start.ts";
export type { RetentionOptions } from "./execution/engine/retention.ts";
export type { AndanteLimits } from "./execution/limits/limits.ts";
export type {
  ExecutionEvent,
  ExecutionResult,
  ExecutionState,
  ExecutionSummary,
  ExecutionSuspension,
} from "./execution/stream/views.ts";
export { createLogger } from "./observe/log/create-logger.ts";
export type { LogOptions } from "./observe/log/log-options.ts";
export type { Logger } from "./observe/log/logger.ts";
export type { TracingOptions } from "./observe/trace/tracing-options.ts";
export type { BudgetOptions, BudgetSubject } from "./observe/usage/budget-options.ts";
export type { BudgetState } from "./observe/usage/budgets.ts";
export type { ModelPrice, Prices } from "./observe/usage/prices.ts";
export type { UsageOptions, UsagePage } from "./observe/usage/read-usage.ts";
export { memoryStore, sqliteStore } from "./store/sqlite/sqlite-store.ts";
export type { Store } from "./store/store.ts";
export type { Duration } from "./values/duration.ts";
export type { Schema } from "./values/schema.ts";
export type { InferInput, InferResult, InferResume } from "./workflow/chain-types.ts";
export { createWorkflow, type WorkflowOptions } from "./workflow/create-workflow.ts";
export type { WorkflowHooks } from "./workflow/hooks.ts";
export type { RetryOptions } from "./workflow/retry.ts";
export type { StepContext } from "./workflow/step-context.ts";
export {
  andAgent,
  andAll,
  andBranch,
  andDoUntil,
  andDoWhile,
  andForEach,
  andRace,
  andSleep,
  andSleepUntil,
  andTap,
  andThen,
  andWaitFor,
  andWhen,
  andWorkflow,
} from "./workflow/steps/free-steps.ts";
export type { Workflow } from "./workflow/workflow.ts";
