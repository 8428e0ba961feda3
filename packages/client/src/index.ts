// The public surface of @andante/client.
export type {
  AgentClient,
  AgentInput,
  AskOptions,
  ChatOptions,
  DescribedSchema,
  PlaygroundSettings,
} from "./agent/agent-client.ts";
export type { ConversationClient, ToolDecision } from "./agent/conversation-client.ts";
export type { FactsClient, UserFactsClient } from "./agent/facts-client.ts";
export {
  AndanteApiError,
  type ApiErrorCode,
  type ApiErrorDetails,
  type ClientErrorCode,
} from "./api-error.ts";
export { type Client, type ConversationFilter, createClient, type SearchFilter } from "./client.ts";
export type { Listing } from "./connection/listing.ts";
export type { CallOptions, ClientOptions, PageOptions } from "./connection/options.ts";
export type { HostTypes, TypesOf, WorkflowTypes } from "./host-types.ts";
export type {
  ActivityFilter,
  BudgetFilter,
  FailuresFilter,
  InboxFilter,
  LogFilter,
  StepActivityFilter,
  TraceFilter,
  UsageFilter,
} from "./overview.ts";
export type { AgentSummary, ObjectPart, StreamPart } from "./responses/agents.ts";
export type * from "./responses/events.ts";
export type { ExecutionResult, ExecutionState, JsonSchema, WorkflowSummary } from "./responses/executions.ts";
// All other responses. The exports above have more exact types and take precedence over those of the same name.
export type * from "./responses/wire.ts";
export type {
  DeliveriesClient,
  DeliveryFilter,
  EndpointOptions,
  EndpointsClient,
} from "./workflow/endpoints-client.ts";
export type { EventFilter, EventsClient, EventToSend, SendEventOptions } from "./workflow/events-client.ts";
export type {
  EventsOptions,
  ExecutionClient,
  FollowOptions,
  ReasonOptions,
  ReplayOptions,
} from "./workflow/execution-client.ts";
export type { ResumeOptions } from "./workflow/resume-execution.ts";
export type {
  BackfillOptions,
  ScheduleFilter,
  ScheduleOptions,
  SchedulesClient,
  ScheduleTiming,
  SetScheduleOptions,
} from "./workflow/schedules-client.ts";
export type {
  ExecutionFilter,
  ExecutionStream,
  StartOptions,
  WorkflowClient,
} from "./workflow/workflow-client.ts";
