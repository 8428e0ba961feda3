// The client's types of responses, and the console's own where a page reads one in another form.
import type * as client from "@andante/client";

export type {
  Activity,
  ActivityPoint,
  AgentDetail,
  AgentSummary,
  Conversation,
  ConversationMessage,
  ExecutionChange,
  ExecutionResult,
  ExecutionState,
  ExecutionStatus,
  Inbox,
  InboxItem,
  JsonSchema,
  LogRecord,
  ServerStatus,
  Span,
  Step,
  StepActivity,
  Suspension,
  Trace,
  TracePage,
  TraceSummary,
  Usage,
  WorkflowDetail,
  WorkflowExample,
  WorkflowSummary,
} from "@andante/client";

export interface ExecutionSummary extends client.ExecutionSummary {
  /** The step that the feed of changes named last; not part of the list. */
  readonly stepPath?: string | undefined;
}

export interface ExecutionPage {
  readonly executions: readonly ExecutionSummary[];
  readonly nextCursor: string | null;
}

type JournalEvent = client.JournalEvent<unknown, Readonly<Record<string, unknown>>>;
type CommonField = "type" | "executionId" | "timestamp";

/** An event of a journal with the fields of every type of event: pages show those that it has. */
export type ExecutionEvent = Pick<JournalEvent, CommonField> &
  Partial<Omit<AllFields<JournalEvent>, CommonField>>;

type AllFields<Union> = {
  readonly [Name in Union extends unknown ? keyof Union : never]:
    | (Union extends { readonly [Key in Name]?: infer Value } ? Value : never)
    | undefined;
};
