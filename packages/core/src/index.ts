// The public surface of @andante/core.
export { Agent, type AgentCall, type AgentOptions } from "./agent/agent.ts";
export type { Agents, ChatOptions } from "./agent/agents.ts";
export type { ObjectPart } from "./agent/answer/object-answer.ts";
export type { StreamPart } from "./agent/answer/stream-answer.ts";
export type { StepView, TextAnswer, ToolCallView, ToolResultView } from "./agent/answer/text-answer.ts";
export type { AnyAgent } from "./agent/any-agent.ts";
export { type CallSettings, settingRanges } from "./agent/call-settings.ts";
export type {
  ConversationListOptions,
  ConversationMessage,
  ConversationPage,
  Conversations,
  ConversationView,
  MessagePage,
  OwnerOption,
} from "./agent/conversation/conversations.ts";
export type { AgentDetail, AgentSummary, AgentTool } from "./agent/describe-agent.ts";
export type { AgentHooks, HookEvent, ToolHookEvent } from "./agent/hooks.ts";
export type { AgentUsage, OperationContext } from "./agent/operation.ts";
export { operationContext } from "./agent/tool-context.ts";
export type { AnswerOptions } from "./agent/turn-opener.ts";
export {
  Andante,
  type AndanteOptions,
  createAndante,
  type StreamHandle,
  type WorkflowDetail,
  type WorkflowSummary,
} from "./andante.ts";
export * from "./errors/index.ts";
export type { ExecutionHandle } from "./execution/answer-callers.ts";
export type { Clock } from "./execution/clock.ts";
export type { AndanteLimits, JournalLimits } from "./execution/limits.ts";
export type { ExecutionPage, ListOptions } from "./execution/list-executions.ts";
export type { ReplayOptions } from "./execution/replay-execution.ts";
export type { ResumeOptions } from "./execution/resume-execution.ts";
export type { RetentionOptions } from "./execution/retention.ts";
export type { StartOptions } from "./execution/start-execution.ts";
export type { SuspendOptions, SuspendResult } from "./execution/steer-execution.ts";
export type {
  ExecutionEvent,
  ExecutionResult,
  ExecutionStateView,
  ExecutionSummary,
  SuspensionView,
} from "./execution/views.ts";
export type { LogLine, LogRecord } from "./observe/log-feed.ts";
export { type LogFilter, matchesLog } from "./observe/log-filter.ts";
export { type LogLevel, logLevels } from "./observe/log-level.ts";
export type { LogOptions } from "./observe/log-options.ts";
export { createLogger, type Logger, type LoggerOptions } from "./observe/logger.ts";
export type { LogFollowing, Logs } from "./observe/logs.ts";
export type { Metrics } from "./observe/metrics.ts";
export type { Entity, SpanEventRecord, SpanRecord } from "./observe/span-record.ts";
export type { Trace, TraceFilter, TracePage, TraceSummary, Traces } from "./observe/traces.ts";
export type { SpanEvent } from "./observe/tracing.ts";
export type { TracingOptions } from "./observe/tracing-options.ts";
export type * from "./store/conversation-store.ts";
export type * from "./store/observation-store.ts";
export { memoryStore, type SqliteStoreOptions, sqliteStore } from "./store/sqlite/sqlite-store.ts";
export type * from "./store/store.ts";
export type { BranchCase } from "./workflow/and-branch.ts";
export type { Moment } from "./workflow/and-sleep.ts";
export { createWorkflow, type WorkflowOptions } from "./workflow/create-workflow.ts";
export type { StepDescription, WorkflowDescription } from "./workflow/describe-workflow.ts";
export type { Duration } from "./workflow/duration.ts";
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
  andWhen,
  andWorkflow,
} from "./workflow/free-steps.ts";
export type {
  EndHookContext,
  HookContext,
  StartHookContext,
  StepEndHookContext,
  StepOutcome,
  SuspendHookContext,
  WorkflowHooks,
} from "./workflow/hooks.ts";
export type { Json } from "./workflow/json.ts";
export type { RetryOptions } from "./workflow/retry.ts";
export type { JsonSchema, Schema, SchemaInput, SchemaOutput } from "./workflow/schema.ts";
export type { StepType, WorkflowAgent, WorkflowDefinition } from "./workflow/step.ts";
export type {
  DeadlineOptions,
  FunctionContext,
  StepContext,
  StepData,
  WorkflowState,
} from "./workflow/step-context.ts";
export { Workflow } from "./workflow/workflow.ts";
