// All executions at once, the server itself, and its logs, traces and metrics.
import { type Connection, part } from "./connection/connection.ts";
import { type Listing, listing } from "./connection/listing.ts";
import type { CallOptions, PageOptions } from "./connection/options.ts";
import { attach, cutOff, readEvents } from "./connection/read-events.ts";
import type {
  Activity,
  BudgetReport,
  ChangeEvent,
  DefinitionHistory,
  ExecutionStatus,
  FailureGroups,
  Inbox,
  LogLevel,
  LogRecord,
  Nodes,
  ServerStatus,
  StepActivity,
  Trace,
  TracePage,
  TraceSummary,
  UsageReport,
} from "./responses/wire.ts";

export interface InboxFilter<WorkflowId extends string = string> extends PageOptions {
  readonly workflowId?: WorkflowId | undefined;
  /** Only tool calls that wait in chats with this agent. */
  readonly agentId?: string | undefined;
  /** Items per page; at most 500. Default: 200. */
  readonly limit?: number | undefined;
  /** Only items with this text in their reason, data, ids, user or recipient; at most 200 characters. */
  readonly text?: string | undefined;
  /** True: only items that an event ends. False: only those that wait for a person. Default: all. */
  readonly events?: boolean | undefined;
  /** Default: `oldest`. The other orders sort the oldest 10 000. */
  readonly order?: "oldest" | "deadline" | "user" | undefined;
  /** Whether to count all items with this `events`, of each workflow and agent too. Default: false. */
  readonly counts?: boolean | undefined;
}

export interface ActivityFilter<WorkflowId extends string = string> extends StepActivityFilter {
  readonly workflowId?: WorkflowId | undefined;
  /** Default: an hour ago. */
  readonly from?: Date | string | undefined;
  /** Maximum number of points, each of a minute or more. Default: 60. */
  readonly points?: number | undefined;
}

export interface FailuresFilter<WorkflowId extends string = string> extends StepActivityFilter {
  readonly workflowId?: WorkflowId | undefined;
  /** Only the group of this id, with its newest executions. */
  readonly group?: string | undefined;
}

export interface UsageFilter<WorkflowId extends string = string> extends PageOptions {
  readonly by: UsageReport["by"];
  /** From the day of this time on, UTC. Default: 30 days with today. */
  readonly from?: Date | string | undefined;
  /** Before this time, to the end of its day, UTC. Default: now. */
  readonly to?: Date | string | undefined;
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly workflowId?: WorkflowId | undefined;
  /** Provider and name. */
  readonly model?: string | undefined;
}

export interface BudgetFilter extends CallOptions {
  /** Default: all budgets that the caller may see. */
  readonly userId?: string | undefined;
}

export interface StepActivityFilter extends CallOptions {
  /** Default: a day ago. */
  readonly from?: Date | string | undefined;
  /** Default: now. */
  readonly to?: Date | string | undefined;
}

export interface LogFilter extends CallOptions {
  /** The lowest level. Default: all. */
  readonly level?: LogLevel | undefined;
  readonly workflowId?: string | undefined;
  readonly executionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly since?: Date | string | undefined;
  readonly until?: Date | string | undefined;
  /** Maximum number of lines, the newest; at most 1000. Default: 100. */
  readonly limit?: number | undefined;
}

export interface TraceFilter extends PageOptions {
  readonly entityType?: "workflow" | "agent" | undefined;
  readonly entityId?: string | undefined;
  readonly executionId?: string | undefined;
  readonly userId?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly from?: Date | string | undefined;
  readonly to?: Date | string | undefined;
}

/** The members of `Client` besides workflows and agents. */
export class Overview<WorkflowId extends string = string> {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Open suspensions of all workflows without pauses, the oldest first unless another order is asked for. */
  inbox({ signal, counts, ...filter }: InboxFilter<WorkflowId> = {}): Promise<Inbox> {
    const query = { ...filter, ...(counts && { counts: "true" }) };
    return this.connection.repeat({ path: "/api/inbox", query, signal });
  }

  /** Starts, completions and failures over a time, with durations. */
  activity({ signal, ...query }: ActivityFilter<WorkflowId> = {}): Promise<Activity> {
    return this.connection.repeat({ path: "/api/activity", query, signal });
  }

  /** How often each step of a workflow completed and failed, with durations. */
  stepActivity(workflowId: WorkflowId, { signal, ...query }: StepActivityFilter = {}): Promise<StepActivity> {
    return this.connection.repeat({ path: `/api/workflows/${part(workflowId)}/activity`, query, signal });
  }

  /** The definitions that processes have registered for a workflow, the most recent first. */
  definitions(workflowId: WorkflowId, { signal }: CallOptions = {}): Promise<DefinitionHistory> {
    return this.connection.repeat({ path: `/api/workflows/${part(workflowId)}/definitions`, signal });
  }

  /** The processes that share the store, with their load. */
  nodes({ signal }: CallOptions = {}): Promise<Nodes> {
    return this.connection.repeat({ path: "/api/nodes", signal });
  }

  /** Tokens and money of models by day, user, agent, workflow or model, a page at a time. */
  usage({ signal, ...query }: UsageFilter<WorkflowId>): Promise<UsageReport> {
    return this.connection.repeat({ path: "/api/usage", query, signal });
  }

  /** How much of each budget over time is used in its current window. */
  budgets({ signal, ...query }: BudgetFilter = {}): Promise<BudgetReport> {
    return this.connection.repeat({ path: "/api/budgets", query, signal });
  }

  /** Failed executions in groups of the same error, the largest first. */
  failures({ signal, ...query }: FailuresFilter<WorkflowId> = {}): Promise<FailureGroups> {
    return this.connection.repeat({ path: "/api/failures", query, signal });
  }

  /**
   * Follows the changes of all executions and reconnects automatically. Changes without a connection are not sent, so
   * read the shown data again at each `open`.
   */
  async *changes({ signal }: CallOptions = {}): AsyncGenerator<ChangeEvent, void> {
    const backoff = this.connection.backoff(signal);
    for (;;) {
      let isAttached = false;
      try {
        const response = await attach(this.connection, { path: "/api/changes", signal });
        isAttached = true;
        for await (const event of readEvents<ChangeEvent>(response, { signal })) {
          if (event.type === "changes") backoff.succeeded();
          yield event;
        }
        throw cutOff();
      } catch (error) {
        await backoff.failed(error, () => isAttached);
      }
    }
  }

  /** The status of the server, and the caller. */
  server({ signal }: CallOptions = {}): Promise<ServerStatus> {
    return this.connection.repeat({ path: "/api/server", signal });
  }

  /** The newest log lines that match, oldest first. */
  logs({ signal, ...query }: LogFilter = {}): Promise<readonly LogRecord[]> {
    return this.connection.repeat({ path: "/api/logs", query, signal });
  }

  /** Traces, newest first. */
  traces(filter: TraceFilter = {}): Listing<TracePage, TraceSummary> {
    return listing(this.connection, "/api/traces", filter, ({ traces }) => traces);
  }

  /** One trace with its spans. */
  trace(traceId: string, { signal }: CallOptions = {}): Promise<Trace> {
    return this.connection.repeat({ path: `/api/traces/${part(traceId)}`, signal });
  }

  /** The metrics in Prometheus' text format. */
  metrics(options: CallOptions = {}): Promise<string> {
    return this.connection.text({ path: "/metrics", ...options });
  }

  /** The OpenAPI description. */
  description(options: CallOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.connection.document({ path: "/doc", ...options });
  }

  /** Checks that the server works; throws the reason otherwise, without retries. */
  health({ signal }: CallOptions = {}): Promise<{ readonly status: "ok" }> {
    return this.connection.send({ path: "/health", signal });
  }

  /** Checks that the server accepts new work; throws the reason otherwise, without retries. */
  ready({ signal }: CallOptions = {}): Promise<{ readonly status: "ready" }> {
    return this.connection.send({ path: "/ready", signal });
  }
}
