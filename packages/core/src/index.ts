// The public surface of @andante/core.
import "./require-node.ts";

export { Agent } from "./agent/agent.ts";
export type { Agents, ChatOptions } from "./agent/agents.ts";
export type { AgentOptions } from "./agent/call/agent-options.ts";
export type { AnyAgent } from "./agent/call/any-agent.ts";
export { type CallSettings, settingRanges } from "./agent/call/call-settings.ts";
export type { AgentInfo } from "./agent/call/callable-agent.ts";
export type { AgentHookContext, AgentHooks, ToolHookContext } from "./agent/call/hooks.ts";
export type { AgentUsage, OperationContext } from "./agent/call/operation.ts";
export type { AgentExtraParameters } from "./agent/call/prepare-call.ts";
export { operationContext } from "./agent/call/tool-context.ts";
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
export type { StreamPart } from "./agent/reply/stream-part.ts";
export type { StepView, TextReply, ToolCallView, ToolResultView } from "./agent/reply/text-reply.ts";
export type { AgentCallOptions } from "./agent/turn/call-options.ts";
export type { ObjectPart } from "./agent/turn/object-reply.ts";
export {
  Andante,
  type AndanteOptions,
  createAndante,
  type StreamHandle,
  type WorkflowDetail,
  type WorkflowSummary,
} from "./andante.ts";
export * from "./errors/index.ts";
export type { AndanteLimits, JournalLimits } from "./execution/body/limits.ts";
export type { ExecutionHandle } from "./execution/commands/execution-handle.ts";
export type { ExecutionPage, ListOptions } from "./execution/commands/list.ts";
export type { SuspendOptions, SuspendResult } from "./execution/commands/pause.ts";
export type { ReplayOptions } from "./execution/commands/replay.ts";
export type { ResumeOptions } from "./execution/commands/resume.ts";
export type { StartOptions } from "./execution/commands/start.ts";
export type { RetentionOptions } from "./execution/engine/retention.ts";
export type {
  ExecutionEvent,
  ExecutionResult,
  ExecutionStateView,
  ExecutionSummary,
  SuspensionView,
} from "./execution/stream/views.ts";
export type { LogLine, LogRecord } from "./observe/log/log-feed.ts";
export { type LogFilter, matchesLog } from "./observe/log/log-filter.ts";
export { type LogLevel, logLevels } from "./observe/log/log-level.ts";
export type { LogOptions } from "./observe/log/log-options.ts";
export { createLogger, type Logger, type LoggerOptions } from "./observe/log/logger.ts";
export type { LogFollowing, Logs } from "./observe/log/logs.ts";
export type { Metrics } from "./observe/metrics.ts";
export type { Entity, SpanEventRecord, SpanRecord } from "./observe/trace/span-record.ts";
export type { Trace, TraceFilter, TracePage, TraceSummary, Traces } from "./observe/trace/traces.ts";
export type { SpanEvent } from "./observe/trace/tracing.ts";
export type { TracingOptions } from "./observe/trace/tracing-options.ts";
export type * from "./store/conversation-store.ts";
export type * from "./store/observation-store.ts";
export { memoryStore, type SqliteStoreOptions, sqliteStore } from "./store/sqlite/sqlite-store.ts";
export type * from "./store/store.ts";
export type { NewStoredEvent, StoredEvent, StoredJson } from "./store/stored-event.ts";
export { checkKnownOptions, type KnownOptions } from "./values/check-options.ts";
export type { Clock } from "./values/clock.ts";
export type { Duration } from "./values/duration.ts";
export type { Json } from "./values/json.ts";
export type { JsonSchema, Schema, SchemaInput, SchemaOutput } from "./values/schema.ts";
export { createWorkflow, type WorkflowOptions } from "./workflow/create-workflow.ts";
export type { StepDescription, WorkflowDescription } from "./workflow/describe-workflow.ts";
export type {
  EndHookContext,
  HookContext,
  StartHookContext,
  StepEndHookContext,
  StepOutcome,
  SuspendHookContext,
  WorkflowHooks,
} from "./workflow/hooks.ts";
export type { RetryOptions } from "./workflow/retry.ts";
export type { StepType, WorkflowAgent, WorkflowDefinition } from "./workflow/step.ts";
export type {
  DeadlineOptions,
  FunctionContext,
  StepContext,
  StepData,
  WorkflowState,
} from "./workflow/step-context.ts";
export type { BranchCase } from "./workflow/steps/and-branch.ts";
export type { Moment } from "./workflow/steps/and-sleep.ts";
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
} from "./workflow/steps/free-steps.ts";
export { Workflow } from "./workflow/workflow.ts";
