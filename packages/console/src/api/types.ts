// The shapes of what the server sends: the client's, and those that pages read in a form of their own.
import type { LogRecord as AnyLogRecord, Suspension, Usage } from "@andante/client";
import type { ExecutionStatus } from "../words/status.ts";

export type {
  Activity,
  ActivityPoint,
  AgentDetail,
  AgentSummary,
  Conversation,
  ConversationMessage,
  Inbox,
  InboxItem,
  JsonSchema,
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

/** A line with what pages link to. */
export interface LogRecord extends AnyLogRecord {
  readonly workflowId?: string;
  readonly executionId?: string;
  readonly agentId?: string;
}

interface Marks {
  readonly tags?: readonly string[];
  readonly parked?: { readonly reason: string };
  readonly replayOf?: { readonly executionId: string; readonly stepId: string };
}

export interface ExecutionSummary extends Marks {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  readonly startAt: string;
  readonly endAt: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly stepIndex: number;
  readonly error?: { readonly name: string; readonly message: string; readonly step?: string };
  /** Not from the list: the step that the feed of changes named last. */
  readonly stepPath?: string;
}

export interface ExecutionPage {
  readonly executions: readonly ExecutionSummary[];
  readonly nextCursor: string | null;
}

/** What the feed tells of an execution. */
export interface Change {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status?: string;
  readonly stepPath?: string;
  readonly sequence: number;
  readonly timestamp: string;
}

export interface ExecutionResult {
  readonly executionId: string;
  readonly startAt: string;
  readonly endAt: string | null;
  readonly status: ExecutionStatus;
  readonly result: unknown;
  readonly suspension?: Suspension;
  readonly error?: string;
  readonly usage?: Usage;
}

export interface ExecutionState extends ExecutionResult, Marks {
  readonly workflowId: string;
  readonly input: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  readonly suspensions?: readonly Suspension[];
}

export interface ExecutionEvent {
  readonly type: string;
  readonly executionId: string;
  readonly timestamp: string;
  readonly sequence?: number;
  readonly from?: string;
  readonly stepPath?: string;
  readonly stepIndex?: number;
  readonly stepType?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly result?: unknown;
  readonly error?: string | { readonly name: string; readonly message: string; readonly step?: string };
  readonly attempt?: number;
  readonly retryAt?: string;
  readonly suspension?: Suspension;
  readonly resumeData?: unknown;
  readonly byDeadline?: boolean;
  readonly userId?: string;
  readonly reason?: string;
  readonly state?: unknown;
  readonly data?: unknown;
  readonly usage?: Usage;
}
