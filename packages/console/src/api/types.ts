// The shapes of what the server sends, as its API description names them.
import type { ExecutionStatus } from "../words/status.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ServerStatus {
  readonly version: string;
  readonly store: { readonly name: string; readonly bytes: number | null };
  readonly slots: { readonly running: number; readonly limit: number };
  readonly suspended: number;
  readonly authentication: boolean;
  readonly user: { readonly id?: string; readonly name?: string } | null;
}

export interface WorkflowSummary {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly stepsCount: number;
  readonly status: string;
}

export interface Step {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly purpose: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly resumeSchema?: JsonSchema;
  readonly steps?: readonly Step[];
}

export interface WorkflowDetail extends WorkflowSummary {
  readonly steps: readonly Step[];
  readonly inputSchema: JsonSchema;
  readonly resultSchema: JsonSchema | null;
  readonly resumeSchema: JsonSchema | null;
}

export interface WorkflowExample {
  readonly input: unknown;
  readonly calls: readonly string[];
}

export interface Suspension {
  readonly suspensionId: string;
  readonly suspendedAt: string;
  readonly reason: string;
  readonly stepIndex: number;
  readonly stepId: string;
  readonly stepPath?: string;
  readonly data?: unknown;
  readonly resumeSchema?: JsonSchema;
  readonly deadline?: string;
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

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly calls: number;
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

export interface InboxItem {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  readonly startAt: string;
  readonly suspension: Suspension;
  readonly example?: unknown;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  readonly more: boolean;
}

interface Durations {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface ActivityPoint {
  readonly at: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  readonly suspended: number;
  readonly cancelled: number;
}

export interface Activity extends Durations {
  readonly from: string;
  readonly to: string;
  readonly points: readonly ActivityPoint[];
  readonly workflows: readonly (Durations & {
    readonly workflowId: string;
    readonly started: number;
    readonly completed: number;
    readonly failed: number;
  })[];
  readonly complete: boolean;
}

export interface AgentSummary {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly model: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: JsonSchema;
  }[];
  readonly subAgents: readonly string[];
  readonly status: string;
}

export interface AgentDetail extends AgentSummary {
  readonly instructions: string | null;
}

export interface Conversation {
  readonly conversationId: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly title: string | null;
  readonly updatedAt: string;
  readonly usage: Usage;
}

export interface LogRecord {
  readonly timestamp: string;
  readonly level: string;
  readonly msg: string;
  readonly workflowId?: string;
  readonly executionId?: string;
  readonly stepPath?: string;
  readonly agentId?: string;
  readonly [field: string]: unknown;
}

export interface TraceSummary {
  readonly traceId: string;
  readonly rootSpanId: string;
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
  readonly executionId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startTime: string;
  readonly endTime: string | null;
  readonly status: string;
}

export interface Span {
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: string;
  readonly startTime: string;
  readonly endTime: string | null;
  readonly duration: number | null;
  readonly status: string;
  readonly message?: string;
  readonly executionId: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Trace {
  readonly traceId: string;
  readonly roots: readonly TraceSummary[];
  readonly spans: readonly Span[];
}
