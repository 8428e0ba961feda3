// Generated from the server's schemas by `npm run wire`; do not edit.

export interface Activity {
  readonly from: string;
  readonly to: string;
  readonly points: readonly ActivityPoint[];
  readonly workflows: readonly {
    readonly workflowId: string;
    readonly started: number;
    readonly completed: number;
    readonly failed: number;
    readonly p50: number | null;
    readonly p95: number | null;
    readonly p99: number | null;
  }[];
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  /** Answers to suspensions of workflows, without deadlines; null where they are not counted. */
  readonly answers: {
    readonly count: number;
    /** Milliseconds from the question to its answer; null without any. */
    readonly p50: number | null;
  } | null;
  /** False when there were more executions than were counted. */
  readonly complete: boolean;
}

export interface ActivityPoint {
  readonly at: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  readonly suspended: number;
  readonly cancelled: number;
  /** Milliseconds from start to end of the executions that completed in it; null without any. */
  readonly p50: number | null;
}

export interface AgentDetail extends AgentSummary {
  /** Null when they are made for each call, or when the caller may not read them. */
  readonly instructions: string | null;
}

export interface AgentFacts {
  readonly agentId: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** How often they were changed. */
  readonly version: number;
  readonly updatedAt: string | null;
  /** The last changes, newest first. */
  readonly history: readonly {
    /** A JSON merge patch. */
    readonly patch: Readonly<Record<string, unknown>>;
    /** The user who changed them; null for the agent itself. */
    readonly by: string | null;
    readonly at: string;
    /** Above 1 it stands for so many changes, and the patch is the facts as they were. */
    readonly changes: number;
  }[];
}

export interface AgentSummary {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  /** Provider and name; null when unknown. */
  readonly model: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: Readonly<Record<string, unknown>>;
    /** Whether a person must approve its calls; `sometimes`: decided per call. Absent: never. */
    readonly approval?: "always" | "sometimes" | undefined;
  }[];
  readonly subAgents: readonly string[];
  readonly status: "idle" | "running";
}

export interface BudgetReport {
  /** The current windows, the 100 highest of each budget; empty where the host has none. */
  readonly budgets: readonly BudgetState[];
}

export interface BudgetState {
  readonly per: "user" | "agent" | "tag" | "all";
  /** The user, agent or tag; null for all, and for calls without a user. */
  readonly subject: string | null;
  readonly unit: "money" | "tokens";
  /** Milliseconds. */
  readonly window: number;
  readonly startsAt: string;
  readonly endsAt: string;
  /** With the amounts that people have added for this window. */
  readonly limit: number;
  readonly used: number;
  /** As much as the calls in flight may use. */
  readonly held: number;
  /** The part of the limit at which a log line warns. */
  readonly warnAt: number;
  readonly onReached: "refuse" | "suspend";
}

export type ChangeEvent =
  | {
      /** The feed is open: read the current state, then follow. */
      readonly type: "open";
    }
  | {
      readonly type: "changes";
      readonly executions: readonly ExecutionChange[];
      /** How many further executions have changed, too many to list. */
      readonly missed: number;
    };

/** A chunk of the AI SDK's UI message stream; `[DONE]` is the last line. */
export interface ChatChunk {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Conversation {
  readonly conversationId: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly usage: Usage;
}

/** A message in the form that `useChat` of the AI SDK takes. */
export interface ConversationMessage {
  readonly id: string;
  /** A summary of earlier messages has the role `system`. */
  readonly role: "user" | "assistant" | "system";
  readonly parts: readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly metadata?: unknown;
  readonly createdAt: string;
  /** The reply was stopped, or its process ended, before it was complete. */
  readonly partial?: true | undefined;
  /** The ids of the first and the last message that this one stands for, and how many they are. */
  readonly summary?: { readonly from: string; readonly upTo: string; readonly messages: number } | undefined;
}

export interface ConversationPage {
  readonly conversations: readonly Conversation[];
  readonly nextCursor: string | null;
}

export interface Decided {
  readonly conversationId: string;
  /** How many calls of the message still wait: the reply continues when none does. */
  readonly waiting: number;
}

export interface DefinitionHistory {
  /** The last 20 that were registered, the most recent first. */
  readonly definitions: readonly {
    /** The fingerprint of its steps. */
    readonly definition: string;
    /** It is the one of the process that responds. */
    readonly isCurrent: boolean;
    /** When a process first registered it; null: not known. */
    readonly firstAt: string | null;
    /** When one last did, to within an hour; null: not known. */
    readonly lastAt: string | null;
    /** Running and suspended executions that last ran with it. */
    readonly open: number;
    /** The ids of its top-level steps; null: not known. */
    readonly steps: readonly string[] | null;
  }[];
  /** False when more than 500 executions of a status are open. */
  readonly complete: boolean;
}

export interface Delivery {
  readonly deliveryId: string;
  /** The webhook-id of each attempt. */
  readonly messageId: string;
  readonly endpointId: string;
  readonly executionId: string | null;
  readonly workflowId: string;
  readonly type: string;
  readonly state: "scheduled" | "pending" | "delivered" | "failed";
  readonly createdAt: string;
  /** When the next attempt is made. */
  readonly nextAt: string | null;
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

export interface DeliveryDetail extends Delivery {
  /** The body of the request. */
  readonly payload: string;
  /** The last 20 attempts. */
  readonly history: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly error: string | null;
    readonly milliseconds: number;
  }[];
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  readonly nextCursor: string | null;
}

export interface Endpoint {
  readonly endpointId: string;
  readonly url: string;
  /** Where it is declared. */
  readonly origin: "code" | "api";
  readonly on: readonly (
    | "execution.ended"
    | "execution.suspended"
    | "suspension.reminder"
    | "suspension.escalated"
  )[];
  /** Null: all. */
  readonly workflows: readonly string[] | null;
  readonly content: "thin" | "full";
  readonly state: "active" | "disabled";
  /** Why it is disabled. */
  readonly note: string | null;
  readonly failingSince: string | null;
  /** How many secrets sign now. */
  readonly secrets: number;
}

export interface EndpointList {
  readonly endpoints: readonly Endpoint[];
}

export interface EndpointTest {
  readonly deliveryId: string;
}

/** The codes of a server's errors. A later release may have others. */
export type ErrorCode =
  | "agent-function"
  | "agent-not-found"
  | "approval-used"
  | "authentication-required"
  | "bad-request"
  | "bodies-limit"
  | "body-too-large"
  | "budget-reached"
  | "budget-used-up"
  | "capacity"
  | "checkpoint-timeout"
  | "checkpoint-use"
  | "client-gone"
  | "console-not-built"
  | "conversation-busy"
  | "conversation-conflict"
  | "conversation-not-found"
  | "conversation-too-long"
  | "crash-loop"
  | "deadline"
  | "definition"
  | "definition-changed"
  | "delivery-conflict"
  | "delivery-not-found"
  | "endpoint-conflict"
  | "endpoint-not-found"
  | "endpoints-off"
  | "event-data"
  | "event-id-conflict"
  | "event-not-found"
  | "execution-conflict"
  | "execution-failed"
  | "execution-not-found"
  | "execution-parked"
  | "execution-stuck"
  | "execution-timeout"
  | "export-limit"
  | "files-busy"
  | "forbidden"
  | "foreign-origin"
  | "host-not-allowed"
  | "input-validation"
  | "invalid-facts"
  | "invalid-option"
  | "invalid-schema"
  | "invalid-token"
  | "journal-damaged"
  | "journal-limit"
  | "link-expired"
  | "link-form"
  | "link-not-found"
  | "links-not-configured"
  | "mcp-server-gone"
  | "mcp-timeout"
  | "message-withdrawn"
  | "model-busy"
  | "model-failed"
  | "model-price"
  | "model-timeout"
  | "node-version"
  | "not-cancellable"
  | "not-suspendable"
  | "not-suspended"
  | "object-mismatch"
  | "option"
  | "output-limit"
  | "permanent"
  | "playground-off"
  | "public"
  | "queue-full"
  | "queued-message-not-found"
  | "read-limit"
  | "receiver-not-found"
  | "replay-target"
  | "reply-incomplete"
  | "reply-limit"
  | "reply-refused"
  | "reply-stopped"
  | "reply-timeout"
  | "reply-waits"
  | "resume-target"
  | "resume-validation"
  | "route-not-found"
  | "schedule-conflict"
  | "schedule-limit"
  | "schedule-not-found"
  | "schedule-revision"
  | "schema-busy"
  | "search-unsupported"
  | "shutting-down"
  | "socket-limit"
  | "step-place"
  | "step-schema"
  | "step-timeout"
  | "store-busy"
  | "store-open"
  | "store-refused"
  | "store-unavailable"
  | "stream-limit"
  | "summary-not-found"
  | "token-expired"
  | "too-large"
  | "too-many-copies"
  | "too-many-fields"
  | "tool-denied"
  | "tool-wait"
  | "tool-workflow"
  | "trace-not-found"
  | "unhealthy"
  | "unknown-event"
  | "unknown-option"
  | "unserializable"
  | "unsupported-media-type"
  | "user-share"
  | "verification-unavailable"
  | "webhook-signature"
  | "workflow-not-found";

export interface EventReceipt {
  readonly eventId: string;
  /** An event with this id was sent before. */
  readonly duplicate: boolean;
  /** Executions that it has started: the ids of at most 100. */
  readonly started: readonly string[];
  /** Executions whose waits it has ended. */
  readonly woken: readonly string[];
  readonly cancelled: readonly string[];
  /** Workflows that it has not started. */
  readonly skipped: readonly { readonly workflowId: string; readonly reason: string }[];
}

export interface EventReceipts {
  readonly receipts: readonly EventReceipt[];
}

export interface EventTypes {
  readonly events: readonly {
    readonly name: string;
    readonly scope: "shared" | "user";
    /** The JSON Schema of its data. */
    readonly data: Readonly<Record<string, unknown>>;
  }[];
}

export type ExecutionCause =
  | {
      readonly scheduleId: string;
      /** The nominal time of the occurrence. */
      readonly at: string;
    }
  | {
      readonly eventId: string;
      /** The name of the event. */
      readonly event: string;
      /** When it was sent. */
      readonly at: string;
    };

export interface ExecutionChange {
  readonly executionId: string;
  /** Empty for a chat whose tool calls wait for approval, or do not any more. */
  readonly workflowId: string;
  readonly userId: string | null;
  /** Absent when it has not changed. */
  readonly status?: ExecutionStatus | undefined;
  readonly stepPath?: string | undefined;
  readonly sequence: number;
  readonly timestamp: string;
}

export interface ExecutionCounts {
  readonly running: {
    readonly count: number;
    /** True when there are more than were counted. */
    readonly more: boolean;
  };
  readonly suspended: {
    readonly count: number;
    /** True when there are more than were counted. */
    readonly more: boolean;
  };
  readonly completed: {
    readonly count: number;
    /** True when there are more than were counted. */
    readonly more: boolean;
  };
  readonly error: {
    readonly count: number;
    /** True when there are more than were counted. */
    readonly more: boolean;
  };
  readonly cancelled: {
    readonly count: number;
    /** True when there are more than were counted. */
    readonly more: boolean;
  };
}

export interface ExecutionPage {
  readonly executions: readonly ExecutionSummary[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface ExecutionResult {
  readonly executionId: string;
  readonly startAt: string;
  readonly endAt: string | null;
  readonly status: ExecutionStatus;
  readonly result: unknown;
  readonly suspension?: Suspension | undefined;
  /** Why it failed: the message of the step's error only when that was a `PublicError`. */
  readonly error?: string | undefined;
  /** The usage of its agents, when it has any. */
  readonly usage?: Usage | undefined;
}

export interface ExecutionState extends ExecutionResult {
  readonly workflowId: string;
  readonly input: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  /** Every open suspension, when there is one. */
  readonly suspensions?: readonly Suspension[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** No process may run it: the workflow has changed, and `reason` says how. */
  readonly parked?: { readonly reason: string } | undefined;
  readonly replayOf?: ReplayOf | undefined;
  /** The schedule or the event that has started it. */
  readonly cause?: ExecutionCause | undefined;
}

export type ExecutionStatus = "running" | "suspended" | "completed" | "error" | "cancelled";

/** An execution in a list. */
export interface ExecutionSummary {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  readonly startAt: string;
  readonly endAt: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** The top-level step that runs now or comes next. */
  readonly stepIndex: number;
  readonly tags?: readonly string[] | undefined;
  /** No process may run it: the workflow has changed, and `reason` says how. */
  readonly parked?: { readonly reason: string } | undefined;
  readonly replayOf?: ReplayOf | undefined;
  /** The schedule or the event that has started it. */
  readonly cause?: ExecutionCause | undefined;
  readonly error?:
    | { readonly name: string; readonly message: string; readonly step?: string | undefined }
    | undefined;
  /** With `explain`: the reason why an open execution waits. */
  readonly explanation?: ShortExplanation | undefined;
}

export interface Explanation {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  /** The reason why it waits, or the way in which it ended; times in it are ISO 8601. */
  readonly sentence: string;
  /** Everything that it waits for, the most important first; empty once it has ended. */
  readonly waits: readonly Wait[];
  /** The usage of its agents, when it has any. */
  readonly usage?: Usage | undefined;
  /** The budgets over time that its calls count for; a caller that sees only its own gets those of its user. */
  readonly budgets?: readonly BudgetState[] | undefined;
}

export interface Facts {
  /** Those of each agent that keeps facts. */
  readonly facts: readonly AgentFacts[];
}

export interface FailureGroups {
  readonly from: string;
  readonly to: string;
  readonly groups: readonly {
    /** For the query parameter `group`; the same for as long as it fails in this way. */
    readonly id: string;
    readonly workflowId: string;
    /** The step that failed; null when none did. */
    readonly stepPath: string | null;
    /** The name of the error. */
    readonly name: string;
    /** Its message with `#` in place of ids and numbers. */
    readonly message: string;
    readonly count: number;
    readonly firstAt: string;
    readonly lastAt: string;
    /** The one that failed last. */
    readonly executionId: string;
    /** The definitions that they last ran with, at most 20, that of the newest first. */
    readonly definitions: readonly string[];
    /** The newest 100; only with `group`. */
    readonly executions?:
      | readonly {
          readonly executionId: string;
          /** When it failed. */
          readonly at: string;
          /** Null: not known. */
          readonly definition: string | null;
        }[]
      | undefined;
  }[];
  /** False when there were more failures than were read. */
  readonly complete: boolean;
}

/** An execution that a search has found. */
export interface FoundExecution extends ExecutionSummary {
  /** Where the text was found, at most 5 places. */
  readonly matches: readonly {
    /** Such as `input.items[0].sku`; `tags` for a tag. */
    readonly path: string;
    /** The value in lower case, at most 128 characters of it. */
    readonly value: string;
  }[];
}

export interface Health {
  readonly status: "ok";
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** Whether there are further pages. */
  readonly more: boolean;
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** All suspensions that the caller may see, with any filters but `events`; only with `counts=true`. */
  readonly counts?:
    | {
        readonly total: number;
        readonly workflows: readonly { readonly workflowId: string; readonly count: number }[];
        /** Tool calls that wait in chats. */
        readonly chats: number;
        /** The same by the agent of the chat. */
        readonly agents: readonly { readonly agentId: string; readonly count: number }[];
        /** False when there were more than were counted. */
        readonly complete: boolean;
      }
    | undefined;
}

/** An open suspension with its execution. */
export interface InboxItem {
  readonly executionId: string;
  /** Empty for a tool call of a chat. */
  readonly workflowId: string;
  /** The agent of a chat; null for a workflow. */
  readonly agentId: string | null;
  readonly conversationId: string | null;
  /** The id for `POST /api/conversations/:conversationId/decisions`; null for a workflow. */
  readonly approvalId: string | null;
  readonly userId: string | null;
  readonly startAt: string;
  readonly suspension: Suspension;
  /** Resume data that the suspension accepts. */
  readonly example?: unknown;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogRecord {
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface MessagePage {
  readonly messages: readonly ConversationMessage[];
  readonly nextCursor: string | null;
  /** With `replyTo`: whether the reply is made, waits for a person or a tool, has ended, or failed. */
  readonly reply?: "running" | "waiting" | "done" | "none" | undefined;
}

export interface Nodes {
  /** At most 200, live ones first. */
  readonly nodes: readonly {
    /** A random name: another one after each start. */
    readonly id: string;
    /** It is the process that responds. */
    readonly isSelf: boolean;
    /** False when its lease has ended, and others have not taken over its executions. */
    readonly isAlive: boolean;
    /** Executions and chats that it has claimed; suspended and sleeping ones do not count. */
    readonly executions: number;
    /** Its own description; null where the store keeps none. */
    readonly process: {
      /** The name of its host. */
      readonly name: string;
      readonly pid: number;
      readonly startedAt: string;
      /** When it described itself. */
      readonly seenAt: string;
      /** Executions that have a slot. */
      readonly running: number;
      /** How many may run: `limits.running`. */
      readonly limit: number;
      /** Equal for processes whose workflows have the same ids and steps. */
      readonly definitions: string;
      /** Seconds of processor time per second, lately. */
      readonly cpu: number | null;
      /** Resident memory in bytes. */
      readonly memory: number;
    } | null;
  }[];
  /** Executions and chats that have work to do and wait for a process. */
  readonly unowned: number;
}

export interface Playground {
  /** The agent's own; null when it is chosen for each call. */
  readonly model: string | null;
  /** The others that can be chosen. */
  readonly models: readonly string[];
  /** The agent's own; null for the model's default. */
  readonly temperature: number | null;
  /** The agent's own; null when they are made for each call. */
  readonly instructions: string | null;
}

export interface Queue {
  /** The next one first. */
  readonly messages: readonly ConversationMessage[];
}

export interface Readiness {
  readonly status: "ready";
}

export interface ReceivedWebhook {
  /** It was received before. */
  readonly duplicate: boolean;
  readonly eventIds: readonly string[];
}

export interface Removed {
  readonly conversationId: string;
}

export interface RemovedEndpoint {
  readonly endpointId: string;
}

export interface RemovedFacts {
  readonly userId: string;
}

export interface RemovedSchedule {
  readonly scheduleId: string;
}

export interface RemovedSummary {
  readonly conversationId: string;
  readonly messageId: string;
}

export interface ReplayOf {
  readonly executionId: string;
  readonly stepId: string;
}

export interface ResumedTool {
  readonly conversationId: string;
}

export interface RotatedEndpoint {
  readonly endpointId: string;
  readonly secret: string;
}

export interface Schedule {
  readonly scheduleId: string;
  /** Null for an agent. */
  readonly workflowId: string | null;
  /** Null for a workflow. */
  readonly agentId: string | null;
  readonly userId: string | null;
  /** Where it is declared. */
  readonly origin: "code" | "api";
  readonly state: "active" | "paused" | "removed" | "broken";
  /** Why it is in this state. */
  readonly note: string | null;
  /** The user who has paused it. */
  readonly pausedBy: string | null;
  readonly cron?: string | undefined;
  readonly zone?: string | undefined;
  /** Milliseconds. */
  readonly every?: number | undefined;
  readonly from: string | null;
  readonly to: string | null;
  /** Milliseconds. */
  readonly jitter: number;
  readonly overlap: "skip" | "queue-one" | "queue" | "cancel" | "allow";
  readonly catchUp: "latest" | "all" | "none";
  /** Milliseconds. */
  readonly window: number;
  readonly pauseOnFailure: number | null;
  readonly tags: readonly string[];
  /** Null for none, and for one that is declared in code. */
  readonly input: unknown;
  /** Null for a workflow, and for one that is declared in code. */
  readonly prompt: string | null;
  /** The conversation that a caller has chosen. */
  readonly conversationId: string | null;
  readonly revision: number;
  /** Its next nominal time. */
  readonly nextAt: string | null;
  /** The newest occurrence that was decided. */
  readonly last: {
    readonly at: string;
    readonly outcome:
      | "started"
      | "skipped-overlap"
      | "missed"
      | "replaced"
      | "invalid-input"
      | "refused"
      | "already-started"
      | "by-hand";
    /** Milliseconds. */
    readonly late: number;
  } | null;
  /** The nominal time of the last occurrence that started. */
  readonly lastAt: string | null;
  /** For an agent the id of the last message. */
  readonly lastExecutionId: string | null;
  readonly started: number;
  readonly skipped: number;
  readonly missed: number;
  /** Nominal times that wait for the end of an execution, or for the conversation. */
  readonly waiting: number;
}

export interface ScheduleBackfill {
  readonly times: readonly string[];
}

export interface ScheduleOccurrences {
  /** The last 100, the newest first. */
  readonly occurrences: readonly {
    /** Its nominal time. */
    readonly at: string;
    readonly outcome:
      | "started"
      | "skipped-overlap"
      | "missed"
      | "replaced"
      | "invalid-input"
      | "refused"
      | "already-started"
      | "by-hand";
    /** For an agent the id of the message. */
    readonly executionId: string | null;
    /** The conversation of the message. */
    readonly conversationId: string | null;
    readonly decidedAt: string;
    /** Milliseconds; 0 for less than a second. */
    readonly late: number;
    /** How many times it represents, the last of which is `at`. */
    readonly count: number;
  }[];
}

export interface SchedulePage {
  readonly schedules: readonly Schedule[];
  readonly nextCursor: string | null;
}

export interface SchedulePreview {
  readonly times: readonly string[];
  readonly follows: "elapsed time" | "wall clock";
  /** The next two changes of the zone's clocks. */
  readonly changes: readonly {
    readonly at: string;
    /** Minutes by which clocks are put forward; below 0 back. */
    readonly minutes: number;
    /** The times within half a day of it. */
    readonly times: readonly string[];
  }[];
}

export interface ScheduleTrigger {
  /** For an agent the id of the message. */
  readonly executionId: string;
}

export interface SearchPage {
  readonly executions: readonly FoundExecution[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** False when so many values match that not all of them were read. */
  readonly complete: boolean;
}

export interface SentEvent {
  readonly eventId: string;
  readonly name: string;
  readonly key: string | null;
  /** The user whose executions alone it reaches; null for all. */
  readonly scope: string | null;
  readonly userId: string | null;
  /** The execution whose body has sent it. */
  readonly sentBy: string | null;
  readonly sentAt: string;
  /** Absent once it is too old to be found by waits. */
  readonly data?: unknown;
  /** Executions that it has started: the ids of at most 100. */
  readonly started: readonly string[];
  /** Executions whose waits it has ended. */
  readonly woken: readonly string[];
  readonly cancelled: readonly string[];
  /** Workflows that it has not started. */
  readonly skipped: readonly { readonly workflowId: string; readonly reason: string }[];
  /** Of all, also those that are not named. */
  readonly counts: {
    readonly started: number;
    readonly woken: number;
    readonly cancelled: number;
    readonly skipped: number;
  };
  /** It has started, woken and cancelled nothing so far. */
  readonly unmatched: boolean;
}

export interface SentEventPage {
  readonly events: readonly SentEvent[];
  readonly nextCursor: string | null;
}

export interface ServerStatus {
  readonly version: string;
  readonly store: {
    readonly name: string;
    readonly bytes: number | null;
    /** Processes that share it; null where only one can, or it is not known. */
    readonly nodes: number | null;
  };
  readonly slots: {
    /** Of everyone; null for a caller that sees only its own. */
    readonly running: number | null;
    readonly limit: number;
  };
  /** Of everyone; null for a caller that sees only its own. */
  readonly suspended: number | null;
  /** Whether executions can be found by their values. */
  readonly search: boolean;
  /** Whether clients of MCP are served at /mcp. */
  readonly mcp: boolean;
  readonly authentication: boolean;
  /** The caller. */
  readonly user: { readonly id?: string | undefined; readonly [field: string]: unknown } | null;
}

export interface SetEndpoint extends Endpoint {
  /** Where it was made now. */
  readonly secret?: string | undefined;
}

export interface ShortExplanation {
  /** Times in it are ISO 8601. */
  readonly sentence: string;
  readonly kind: WaitKind;
  /** When it continues by itself. */
  readonly until?: string | undefined;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
  readonly executionId: string | null;
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "producer" | "consumer";
  readonly startTime: string;
  readonly endTime: string | null;
  /** Milliseconds. */
  readonly duration: number | null;
  readonly status: "unset" | "ok" | "error";
  readonly message?: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly timestamp: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
}

/** The conversation of the reply, and the message that it replies to. */
export interface StartedReply {
  readonly conversationId: string;
  readonly messageId: string;
  readonly status: "running";
}

export interface Step {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly purpose: string;
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly suspendSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly resumeSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Of a container: the steps inside. */
  readonly steps?: readonly Step[] | undefined;
}

export interface StepActivity {
  readonly from: string;
  readonly to: string;
  /** At most this many runs are counted, the newest; null when all of them are. */
  readonly runs: number | null;
  readonly steps: readonly {
    readonly stepPath: string;
    readonly completed: number;
    readonly failed: number;
    readonly retried: number;
    /** Of its agents, in the completed runs of the step. */
    readonly tokens: number;
    readonly p50: number | null;
    readonly p95: number | null;
    readonly p99: number | null;
  }[];
}

export interface Stopped {
  readonly stopped: boolean;
}

export interface SuspendResult {
  readonly executionId: string;
  readonly status: "suspended";
  readonly suspension: Suspension;
}

/** An open suspension of an execution. Times are ISO 8601. */
export interface Suspension {
  readonly suspensionId: string;
  readonly suspendedAt: string;
  /** "" when the step gave none. */
  readonly reason: string;
  /** The index of the top-level step, also when a step inside it is suspended. */
  readonly suspendedStepIndex: number;
  readonly stepIndex: number;
  readonly stepId: string;
  /** Absent for a pause. */
  readonly stepPath?: string | undefined;
  /** The value that the step passed to `suspend`. */
  readonly data?: unknown;
  /** The JSON Schema of its resume data. */
  readonly resumeSchema?: Readonly<Record<string, unknown>> | undefined;
  /** When it ends by itself; absent when it has no deadline. */
  readonly deadline?: string | undefined;
  /** How it ends then: the step fails, the execution is cancelled, or the step gets this data. */
  readonly onDeadline?: "fail" | "cancel" | { readonly resume: unknown } | undefined;
  /** The events that end it: the data of one, or `{ name, data }` of several, is the resume data. */
  readonly events?:
    | readonly {
        readonly name: string;
        /** Null for any. */
        readonly key: string | null;
      }[]
    | undefined;
  /** Who is to decide; absent where the step named no one. */
  readonly to?: string | undefined;
}

export interface TextReply {
  readonly text: string;
  readonly finishReason: string;
  readonly toolCalls: readonly ToolCall[];
  readonly toolResults: readonly ToolResult[];
  /** The text parsed by the agent's `output`; only where it has one. */
  readonly output?: unknown;
  /** Summed over all model calls, including those of sub-agents. */
  readonly usage: Usage;
  /** One for each call of the model. */
  readonly steps: readonly {
    readonly text: string;
    readonly finishReason: string;
    readonly toolCalls: readonly ToolCall[];
    readonly toolResults: readonly ToolResult[];
    readonly usage: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly totalTokens: number;
      /** Those of `inputTokens` that came from the provider's cache; absent when unknown. */
      readonly cachedInputTokens?: number | undefined;
      /** Those of `outputTokens` that the model used for reasoning; absent when unknown. */
      readonly reasoningTokens?: number | undefined;
      /** The tokens of the provider's cache under the AI SDK's names; absent when unknown. */
      readonly inputTokenDetails?:
        | { readonly cacheReadTokens: number; readonly cacheWriteTokens?: number | undefined }
        | undefined;
      /** `reasoningTokens` under the AI SDK's name; absent when unknown. */
      readonly outputTokenDetails?: { readonly reasoningTokens: number } | undefined;
      /** For the calls with a price, in the currency of the host's prices; absent when unknown. */
      readonly money?: number | undefined;
      /** Calls without a price, which `money` does not have; absent without any. */
      readonly unpricedCalls?: number | undefined;
    };
  }[];
}

export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export interface ToolResult extends ToolCall {
  readonly output: unknown;
}

export interface Trace {
  readonly traceId: string;
  readonly roots: readonly TraceSummary[];
  /** In the order in which they began, at most 10 000. */
  readonly spans: readonly Span[];
  /** False when the trace has more spans; a span whose end was not read looks open. */
  readonly complete: boolean;
}

export interface TracePage {
  readonly traces: readonly TraceSummary[];
  readonly nextCursor: string | null;
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

/** Tokens and calls of models. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Those of `inputTokens` that came from the provider's cache; absent when unknown. */
  readonly cachedInputTokens?: number | undefined;
  /** Those of `outputTokens` that the model used for reasoning; absent when unknown. */
  readonly reasoningTokens?: number | undefined;
  /** The tokens of the provider's cache under the AI SDK's names; absent when unknown. */
  readonly inputTokenDetails?:
    | { readonly cacheReadTokens: number; readonly cacheWriteTokens?: number | undefined }
    | undefined;
  /** `reasoningTokens` under the AI SDK's name; absent when unknown. */
  readonly outputTokenDetails?: { readonly reasoningTokens: number } | undefined;
  /** For the calls with a price, in the currency of the host's prices; absent when unknown. */
  readonly money?: number | undefined;
  /** Calls without a price, which `money` does not have; absent without any. */
  readonly unpricedCalls?: number | undefined;
  readonly calls: number;
}

export interface UsageReport {
  readonly by: "day" | "user" | "agent" | "workflow" | "model";
  /** The first day, UTC. */
  readonly from: string;
  /** The last day, UTC. */
  readonly to: string;
  /** Days from the latest on; others by money, then by tokens, the highest first. */
  readonly rows: readonly {
    /** The day, or the id of the group; null for calls without one. */
    readonly key: string | null;
    readonly calls: number;
    readonly inputTokens: number;
    /** Those of `inputTokens` that came from the provider's cache. */
    readonly cachedInputTokens: number;
    /** Those of `inputTokens` that were written to the provider's cache. */
    readonly cacheWriteTokens: number;
    readonly outputTokens: number;
    /** Those of `outputTokens` that the model used for reasoning. */
    readonly reasoningTokens: number;
    /** In the currency of the host's prices; null when no call has a known price. */
    readonly money: number | null;
    /** Calls without a known price, which `money` does not have. */
    readonly unpricedCalls: number;
  }[];
  /** Of all pages. */
  readonly total: {
    readonly calls: number;
    readonly inputTokens: number;
    /** Those of `inputTokens` that came from the provider's cache. */
    readonly cachedInputTokens: number;
    /** Those of `inputTokens` that were written to the provider's cache. */
    readonly cacheWriteTokens: number;
    readonly outputTokens: number;
    /** Those of `outputTokens` that the model used for reasoning. */
    readonly reasoningTokens: number;
    /** In the currency of the host's prices; null when no call has a known price. */
    readonly money: number | null;
    /** Calls without a known price, which `money` does not have. */
    readonly unpricedCalls: number;
  };
  readonly nextCursor: string | null;
}

/** One thing that an execution waits for. */
export interface Wait {
  readonly kind: WaitKind;
  readonly stepPath?: string | undefined;
  /** Since when it waits, or the step runs. */
  readonly since?: string | undefined;
  /** When it continues by itself: the end of a sleep, the next attempt, a deadline. */
  readonly until?: string | undefined;
  /** The deadline fails the step, cancels the execution, or resumes it with `resume`. */
  readonly onDeadline?: "fail" | "cancel" | "resume" | undefined;
  readonly resume?: unknown;
  readonly suspensionId?: string | undefined;
  /** The events that end it. */
  readonly events?:
    | readonly {
        readonly name: string;
        /** Null for any. */
        readonly key: string | null;
      }[]
    | undefined;
  readonly toolName?: string | undefined;
  readonly reason?: string | undefined;
  /** Who paused it. */
  readonly userId?: string | undefined;
  /** The attempt that failed; 1 is the first. */
  readonly attempt?: number | undefined;
  /** How many attempts the step has. */
  readonly attempts?: number | undefined;
  readonly error?: string | undefined;
}

/** The reason why an execution waits; later releases may add kinds. */
export type WaitKind =
  | "parked"
  | "pause"
  | "suspension"
  | "tool"
  | "budget"
  | "retry"
  | "sleep"
  | "capacity"
  | "running";

export interface WithdrawnMessage {
  readonly conversationId: string;
  readonly messageId: string;
}

export interface WorkflowDetail extends WorkflowSummary {
  readonly steps: readonly Step[];
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly resultSchema: Readonly<Record<string, unknown>> | null;
  readonly suspendSchema: Readonly<Record<string, unknown>> | null;
  readonly resumeSchema: Readonly<Record<string, unknown>> | null;
}

export interface WorkflowExample {
  /** An input that the workflow accepts. */
  readonly input: unknown;
  /** Shell commands. */
  readonly calls: readonly string[];
}

export interface WorkflowSummary {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly stepsCount: number;
  readonly status: "idle" | "running" | "suspended" | "completed" | "error";
}
