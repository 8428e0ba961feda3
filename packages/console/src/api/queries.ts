// What pages ask the server, with the names under which the responses are kept and renewed.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call, part } from "./call.ts";
import type {
  Activity,
  AgentDetail,
  AgentSummary,
  Conversation,
  ConversationMessage,
  ExecutionEvent,
  ExecutionPage,
  ExecutionState,
  Inbox,
  LogRecord,
  ServerStatus,
  StepActivity,
  Trace,
  TracePage,
  TraceSummary,
  WorkflowDetail,
  WorkflowExample,
  WorkflowSummary,
} from "./types.ts";

/** The filters of a list of executions, as they stand in the address. */
export interface ExecutionFilters {
  readonly workflowId?: string | undefined;
  readonly status?: string | undefined;
  readonly userId?: string | undefined;
  readonly tag?: string | undefined;
  readonly id?: string | undefined;
  readonly from?: string | undefined;
}

/** Milliseconds between two readings of what no feed tells. */
const askEvery = 10_000;
const fixed = { staleTime: Number.POSITIVE_INFINITY } as const;

export const serverQuery = queryOptions({
  queryKey: ["server"],
  queryFn: ({ signal }) => call<ServerStatus>("/api/server", { signal }),
  retry: false,
});

export const workflowsQuery = queryOptions({
  queryKey: ["workflows"],
  queryFn: ({ signal }) => call<readonly WorkflowSummary[]>("/workflows", { signal }),
});

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflow", id],
    queryFn: ({ signal }) => call<WorkflowDetail>(`/workflows/${part(id)}`, { signal }),
    retry: false,
    ...fixed,
  });

export const exampleQuery = (id: string) =>
  queryOptions({
    queryKey: ["example", id],
    queryFn: ({ signal }) => call<WorkflowExample>(`/api/workflows/${part(id)}/example`, { signal }),
    ...fixed,
  });

/** What waits longest. */
export const inboxQuery = queryOptions({
  queryKey: ["inbox", "oldest"],
  queryFn: ({ signal }) => call<Inbox>("/api/inbox", { signal }),
});

/** All of it, page by page. */
export const wholeInboxQuery = (workflowId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["inbox", "pages", workflowId],
    queryFn: ({ pageParam, signal }) =>
      call<Inbox>("/api/inbox", { query: { workflowId, cursor: pageParam, limit: 100 }, signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export const activityQuery = (
  query: { readonly workflowId?: string; readonly from?: string; readonly points?: number } = {},
) =>
  queryOptions({
    queryKey: ["activity", query],
    queryFn: ({ signal }) => call<Activity>("/api/activity", { query, signal }),
    placeholderData: keepPreviousData,
  });

export const stepActivityQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ["activity", "steps", workflowId],
    queryFn: ({ signal }) => call<StepActivity>(`/api/workflows/${part(workflowId)}/activity`, { signal }),
  });

export const executionsQuery = (filters: ExecutionFilters, limit = 100) =>
  infiniteQueryOptions({
    queryKey: ["executions", filters, limit],
    queryFn: ({ pageParam, signal }) =>
      call<ExecutionPage>("/api/executions", { query: { ...filters, limit, cursor: pageParam }, signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id],
    queryFn: ({ signal }) => call<ExecutionState>(`/api/executions/${part(id)}`, { signal }),
    retry: false,
  });

// What is observed of an execution has a name of its own: it is long, and the feed renews it more slowly.

/** What its steps have logged. */
export const executionLogsQuery = (executionId: string) =>
  queryOptions({
    queryKey: ["observed", executionId, "logs"],
    queryFn: ({ signal }) =>
      call<readonly LogRecord[]>("/api/logs", { query: { executionId, limit: 1000 }, signal }),
  });

/** The trace that it is in; null when there is none. */
export const executionTraceQuery = (executionId: string) =>
  queryOptions({
    queryKey: ["observed", executionId, "trace"],
    queryFn: async ({ signal }) => {
      const query = { executionId, limit: 1 };
      const { traces } = await call<{ readonly traces: readonly TraceSummary[] }>("/api/traces", {
        query,
        signal,
      });
      return traces[0]?.traceId ?? null;
    },
  });

/** All spans of that trace: megabytes for a long run. */
export const executionSpansQuery = (executionId: string, traceId: string) =>
  queryOptions({
    queryKey: ["observed", executionId, "spans", traceId],
    queryFn: async ({ signal }) => (await call<Trace>(`/api/traces/${part(traceId)}`, { signal })).spans,
  });

/** A page of a journal, after an event. */
export function readEvents(id: string, after: number, signal?: AbortSignal) {
  const query = { after, limit: 5000 };
  return call<readonly ExecutionEvent[]>(`/api/executions/${part(id)}/events`, {
    query,
    ...(signal && { signal }),
  });
}

export const agentsQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: ({ signal }) => call<readonly AgentSummary[]>("/agents", { signal }),
});

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agent", id],
    queryFn: ({ signal }) => call<AgentDetail>(`/agents/${part(id)}`, { signal }),
    retry: false,
  });

export const conversationsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["conversations", agentId],
    queryFn: ({ signal }) =>
      call<{ readonly conversations: readonly Conversation[] }>("/api/conversations", {
        query: { agentId, limit: 100 },
        signal,
      }),
    refetchInterval: askEvery,
  });

/** Whether a conversation waits for somebody to allow a tool. Asked again when it has changed. */
export const waitsQuery = ({ conversationId, updatedAt }: Conversation) =>
  queryOptions({
    queryKey: ["waits", conversationId, updatedAt],
    queryFn: async ({ signal }) => {
      const path = `/api/conversations/${part(conversationId)}/messages`;
      const query = { order: "newest", limit: 1 };
      const { messages } = await call<{ readonly messages: readonly ConversationMessage[] }>(path, {
        query,
        signal,
      });
      return messages.some(({ parts }) => parts.some(({ state }) => state === "approval-requested"));
    },
    ...fixed,
  });

/** The spans of the newest replies in a conversation, the newest reply first. */
export const replySpansQuery = (agentId: string, conversationId: string) =>
  queryOptions({
    queryKey: ["conversations", agentId, "spans", conversationId],
    queryFn: async ({ signal }) => {
      const query = { entityType: "agent", entityId: agentId, limit: 50 };
      const { traces } = await call<{ readonly traces: readonly TraceSummary[] }>("/api/traces", {
        query,
        signal,
      });
      const own = traces.filter((trace) => trace.conversationId === conversationId).slice(0, 10);
      return Promise.all(own.map(({ traceId }) => call<Trace>(`/api/traces/${part(traceId)}`, { signal })));
    },
  });

/** Page by page, the newest first. */
export const tracesQuery = (query: Readonly<Record<string, string | number | undefined>>) =>
  infiniteQueryOptions({
    queryKey: ["traces", query],
    queryFn: ({ pageParam, signal }) =>
      call<TracePage>("/api/traces", { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    // The feed tells of executions; calls of agents are found by asking. Not while older pages are read.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : askEvery),
  });

export const traceQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["trace", traceId],
    queryFn: ({ signal }) => call<Trace>(`/api/traces/${part(traceId)}`, { signal }),
    retry: false,
  });
