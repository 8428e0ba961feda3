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
export { type DemoModelOptions, demoModel } from "./agent/demo-model/demo-model.ts";
export { exampleFor } from "./agent/demo-model/example.ts";
export type { AgentDetail, AgentSummary, AgentTool } from "./agent/describe-agent.ts";
export type { AgentHooks, HookEvent, ToolHookEvent } from "./agent/hooks.ts";
export type { AgentUsage, OperationContext } from "./agent/operation.ts";
export { operationContext } from "./agent/tool-context.ts";
export type { AnswerOptions } from "./agent/turn-opener.ts";
export {
  Andante,
  type AndanteLimits,
  type AndanteOptions,
  createAndante,
  type ExecutionHandle,
  type StreamHandle,
  type SuspendOptions,
  type SuspendResult,
  type WorkflowDetail,
  type WorkflowSummary,
} from "./andante.ts";
export * from "./errors/index.ts";
export type { ExecutionPage, ListOptions } from "./execution/list-executions.ts";
export type { ResumeOptions } from "./execution/resume-execution.ts";
export type { StartOptions } from "./execution/start-execution.ts";
export type {
  ExecutionEvent,
  ExecutionResult,
  ExecutionStateView,
  ExecutionSummary,
  SuspensionView,
} from "./execution/views.ts";
export { createLogger, type Logger, type LoggerOptions } from "./observe/logger.ts";
export type * from "./store/conversation-store.ts";
export { memoryStore, type SqliteStoreOptions, sqliteStore } from "./store/sqlite/sqlite-store.ts";
export type * from "./store/store.ts";
export { createWorkflow, type WorkflowOptions } from "./workflow/create-workflow.ts";
export type { StepDescription, WorkflowDescription } from "./workflow/describe-workflow.ts";
export { andAgent, andAll, andRace, andTap, andThen, andWhen, andWorkflow } from "./workflow/free-steps.ts";
export type { Json } from "./workflow/json.ts";
export type { JsonSchema, Schema, SchemaInput, SchemaOutput } from "./workflow/schema.ts";
export type { StepType, WorkflowAgent, WorkflowDefinition } from "./workflow/step.ts";
export type { FunctionContext, StepContext, StepData } from "./workflow/step-context.ts";
export { Workflow } from "./workflow/workflow.ts";
