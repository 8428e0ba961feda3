// The queries of pages, with the keys under which the responses are cached and renewed.
import {
  AndanteApiError,
  type Conversation,
  type Delivery,
  type DeliveryFilter,
  type EventFilter,
  type ExecutionFilter,
  type ExecutionStatus,
  type Inbox,
  type InboxFilter,
  type ScheduleTiming,
  type ServerStatus,
  type TraceFilter,
  type UsageReport,
} from "@andante/client";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { andante } from "./andante.ts";
import type { ExecutionPage } from "./types.ts";

/** The filters of a list of executions, as they are in the address. */
export interface ExecutionFilters {
  readonly workflowId?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly userId?: string | undefined;
  readonly tag?: string | undefined;
  readonly id?: string | undefined;
  readonly from?: string | undefined;
  readonly replayOf?: string | undefined;
  readonly parked?: boolean | undefined;
  /** A value of the executions, or its beginning. */
  readonly text?: string | undefined;
}

/** Milliseconds between two reads of data that the feed does not cover. */
const askEvery = 10_000;
/** The pages of a list: each begins after the cursor of the page before. */
const pages = {
  initialPageParam: "",
  getNextPageParam: (page: { readonly nextCursor: string | null }) => page.nextCursor ?? undefined,
  placeholderData: keepPreviousData,
} as const;
const fixed = { staleTime: Number.POSITIVE_INFINITY } as const;

export const serverQuery = queryOptions({
  queryKey: ["server"],
  queryFn: ({ signal }) => andante.server({ signal }),
  retry: false,
  // A sign-in in another tab, with a cookie, ends a refusal.
  refetchInterval: ({ state }) => (state.status === "error" && state.data ? askEvery : false),
});

/** Whether the user sees the executions of all users. True until it is known. */
export function seesAll(server: ServerStatus | undefined): boolean {
  return server?.slots.running !== null;
}

export const workflowsQuery = queryOptions({
  queryKey: ["workflows"],
  queryFn: ({ signal }) => andante.workflows({ signal }),
});

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: ["workflow", id],
    queryFn: ({ signal }) => andante.workflow(id).details({ signal }),
    retry: false,
    ...fixed,
  });

export const exampleQuery = (id: string) =>
  queryOptions({
    queryKey: ["example", id],
    queryFn: ({ signal }) => andante.workflow(id).example({ signal }),
    ...fixed,
  });

/** The oldest suspensions that wait for a person, and how many there are. Those for an event are on the page Events. */
export const inboxQuery = queryOptions({
  queryKey: ["inbox", "oldest"],
  queryFn: ({ signal }) =>
    readWaits({ events: false, counts: true, signal }, ({ items }) => items.length > 0),
  // A chat that continues without a decision, or is removed, is not in the feed.
  refetchInterval: askEvery,
});

/** The whole inbox, page by page. */
export const wholeInboxQuery = (filter: Pick<InboxFilter, "workflowId" | "agentId" | "text" | "order">) =>
  infiniteQueryOptions({
    queryKey: ["inbox", "pages", filter],
    queryFn: ({ pageParam, signal }) =>
      andante.inbox({ ...filter, events: false, cursor: pageParam || undefined, limit: 100, signal }),
    ...pages,
  });

/** Each reads up to 2000 suspensions. */
const mostWaitPages = 5;

/** The first pages together, until `isEnough`: a page may be empty behind which others follow. */
async function readWaits(filter: InboxFilter, isEnough: (inbox: Inbox) => boolean): Promise<Inbox> {
  let inbox = await andante.inbox(filter);
  for (let page = 1; page < mostWaitPages && inbox.nextCursor !== null && !isEnough(inbox); page++) {
    const next = await andante.inbox({ ...filter, counts: false, cursor: inbox.nextCursor });
    inbox = { ...inbox, ...next, items: [...inbox.items, ...next.items] };
  }
  return inbox;
}

export const activityQuery = (
  query: { readonly workflowId?: string; readonly from?: string; readonly points?: number } = {},
) =>
  queryOptions({
    queryKey: ["activity", query],
    queryFn: ({ signal }) => andante.activity({ ...query, signal }),
    placeholderData: keepPreviousData,
  });

/** The counts since a time in milliseconds: the answers of a day. */
export const answersQuery = (since: number) =>
  activityQuery({ from: new Date(since).toISOString(), points: 1 });

export const stepActivityQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ["activity", "steps", workflowId],
    queryFn: ({ signal }) => andante.stepActivity(workflowId, { signal }),
  });

export const definitionsQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ["activity", "definitions", workflowId],
    queryFn: ({ signal }) => andante.definitions(workflowId, { signal }),
  });

/** Schedules are not in the feed. */
export const schedulesQuery = infiniteQueryOptions({
  queryKey: ["schedules", "list"],
  queryFn: async ({ pageParam, signal }) =>
    await andante.schedules.list({ cursor: pageParam || undefined, limit: 100, signal }),
  ...pages,
  refetchInterval: askEvery,
});

/** A schedule with its last occurrences. */
export const scheduleQuery = (scheduleId: string) =>
  queryOptions({
    queryKey: ["schedules", "one", scheduleId],
    queryFn: async ({ signal }) => {
      const [schedule, occurrences] = await Promise.all([
        andante.schedules.get(scheduleId, { signal }),
        andante.schedules.occurrences(scheduleId, { signal }),
      ]);
      return { schedule, occurrences };
    },
    retry: false,
    refetchInterval: askEvery,
  });

/** The next times of a schedule, and those beside changes of clocks. */
export const schedulePreviewQuery = (timing: ScheduleTiming) =>
  queryOptions({
    queryKey: ["schedules", "preview", timing],
    queryFn: ({ signal }) => andante.schedules.preview({ ...timing, count: 5 }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: askEvery,
  });

/** Events that were sent, the newest first. The feed of executions renews them, and so does time: one may do nothing. */
export const eventsQuery = (filter: Pick<EventFilter, "name" | "key" | "unmatched">) =>
  infiniteQueryOptions({
    queryKey: ["events", "list", filter],
    queryFn: async ({ pageParam, signal }) =>
      await andante.events.list({ ...filter, cursor: pageParam || undefined, limit: 100, signal }),
    ...pages,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : askEvery),
  });

/** One event; undefined for an unknown id. */
export const eventQuery = (id: string) =>
  queryOptions({
    queryKey: ["events", "one", id],
    queryFn: async ({ signal }) => (await andante.events.list({ id, limit: 1, signal })).events[0] ?? null,
    refetchInterval: askEvery,
  });

export const eventTypesQuery = queryOptions({
  queryKey: ["event-types"],
  queryFn: ({ signal }) => andante.events.types({ signal }),
  ...fixed,
});

/** The oldest waits for events. */
export const eventWaitsQuery = queryOptions({
  queryKey: ["events", "waits"],
  queryFn: ({ signal }) => readWaits({ events: true, limit: 500, signal }, () => false),
  refetchInterval: askEvery,
});

export const endpointsQuery = queryOptions({
  queryKey: ["endpoints", "list"],
  queryFn: ({ signal }) => andante.endpoints.list({ signal }),
  refetchInterval: askEvery,
});

export const endpointQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ["endpoints", "one", endpointId],
    queryFn: ({ signal }) => andante.endpoints.get(endpointId, { signal }),
    retry: false,
    refetchInterval: askEvery,
  });

/** The newest deliveries of an endpoint, counted by their states. */
export const deliveryCountsQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ["deliveries", "counts", endpointId],
    queryFn: async ({ signal }) => {
      const { deliveries } = await andante.deliveries.list({ endpointId, limit: 100, signal });
      const of = (...states: readonly Delivery["state"][]) =>
        deliveries.filter(({ state }) => states.includes(state)).length;
      return { delivered: of("delivered"), pending: of("pending", "scheduled"), failed: of("failed") };
    },
    refetchInterval: askEvery,
  });

export const deliveriesQuery = (filter: Pick<DeliveryFilter, "endpointId" | "state">) =>
  infiniteQueryOptions({
    queryKey: ["deliveries", "list", filter],
    queryFn: async ({ pageParam, signal }) =>
      await andante.deliveries.list({ ...filter, cursor: pageParam || undefined, limit: 100, signal }),
    ...pages,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : askEvery),
  });

/** A delivery with its body and its attempts. */
export const deliveryQuery = (deliveryId: string) =>
  queryOptions({
    queryKey: ["deliveries", "one", deliveryId],
    queryFn: ({ signal }) => andante.deliveries.get(deliveryId, { signal }),
    retry: false,
    refetchInterval: ({ state }) => (state.data?.state === "pending" ? 2000 : askEvery),
  });

export const nodesQuery = queryOptions({
  queryKey: ["nodes"],
  queryFn: ({ signal }) => andante.nodes({ signal }),
  refetchInterval: 2000,
  retry: false,
});

/** The usage of models over so many days with today. */
export const usageQuery = (by: UsageReport["by"], days: number) =>
  infiniteQueryOptions({
    queryKey: ["usage", by, days],
    queryFn: ({ signal, pageParam }) =>
      andante.usage({ by, from: daysAgo(days - 1), cursor: pageParam || undefined, signal }),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });

export const todayQuery = queryOptions({
  queryKey: ["usage", "today"],
  queryFn: ({ signal }) => andante.usage({ by: "day", from: daysAgo(0), limit: 1, signal }),
  refetchInterval: 30_000,
  // A caller that may read no usage sees Home without it.
  retry: false,
});

export const budgetsQuery = queryOptions({
  queryKey: ["budgets"],
  queryFn: ({ signal }) => andante.budgets({ signal }),
  refetchInterval: 10_000,
});

/** The day so long ago, UTC. */
function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** With a group, that one alone with its executions. */
export const failuresQuery = (from: string | undefined, group?: string) =>
  queryOptions({
    queryKey: ["activity", "failures", group, from],
    queryFn: ({ signal }) => andante.failures({ from, group, signal }),
    placeholderData: keepPreviousData,
  });

/** One page of the list. */
export async function readExecutions({
  cursor,
  ...filter
}: ExecutionFilters & Pick<ExecutionFilter, "limit" | "cursor" | "signal">): Promise<ExecutionPage> {
  return await andante.executions({ ...filter, cursor: cursor || undefined, explain: true });
}

/** Executions by their values. Not under the key of lists: the feed of changes cannot find values. */
export const searchQuery = (
  { text = "", tag, id, replayOf, parked, ...filters }: ExecutionFilters,
  limit = 100,
) =>
  infiniteQueryOptions({
    queryKey: ["search", text, tag, id, replayOf, parked, filters, limit],
    queryFn: async ({ pageParam, signal }): Promise<ExecutionPage> => {
      const page = await andante.search(text, { ...filters, limit, cursor: pageParam || undefined, signal });
      const executions = page.executions.filter(
        ({ executionId, tags = [], ...marks }) =>
          (tag === undefined || tags.includes(tag)) &&
          (id === undefined || executionId.startsWith(id)) &&
          (replayOf === undefined || marks.replayOf?.executionId === replayOf) &&
          (parked === undefined || marks.parked !== undefined),
      );
      return { ...page, executions };
    },
    ...pages,
    retry: false,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : askEvery),
  });

export const executionsQuery = (filters: ExecutionFilters, limit = 100) =>
  infiniteQueryOptions({
    queryKey: ["executions", filters, limit],
    queryFn: ({ pageParam, signal }) => readExecutions({ ...filters, limit, cursor: pageParam, signal }),
    ...pages,
  });

/** How many executions of the list have each status. The key of figures: it is read again less often than the rows. */
export const countsQuery = ({ status: _, ...filters }: ExecutionFilters) =>
  queryOptions({
    queryKey: ["activity", "counts", filters],
    queryFn: ({ signal }) => andante.executionCounts({ ...filters, signal }),
    placeholderData: keepPreviousData,
  });

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id],
    queryFn: ({ signal }) => andante.execution(id).state({ signal }),
    retry: false,
  });

/** The reason why it waits; null for a caller that may not read its journal. The feed renews it with the execution. */
export const explanationQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id, "explanation"],
    queryFn: async ({ signal }) => {
      try {
        return await andante.execution(id).explain({ signal });
      } catch (error) {
        if (error instanceof AndanteApiError && error.status === 403) return null;
        throw error;
      }
    },
    retry: false,
  });

// Logs and traces have separate keys: they are large, and the feed refreshes them less often.

/** The lines that its steps have logged. */
export const executionLogsQuery = (executionId: string) =>
  queryOptions({
    queryKey: ["observed", executionId, "logs"],
    queryFn: ({ signal }) => andante.logs({ executionId, limit: 1000, signal }),
  });

/** The id of its trace; null without one. */
export const executionTraceQuery = (executionId: string) =>
  queryOptions({
    queryKey: ["observed", executionId, "trace"],
    queryFn: async ({ signal }) => {
      const { traces } = await andante.traces({ executionId, limit: 1, signal });
      return traces[0]?.traceId ?? null;
    },
  });

/** All spans of that trace: megabytes for a long run. */
export const executionSpansQuery = (executionId: string, traceId: string) =>
  queryOptions({
    queryKey: ["observed", executionId, "spans", traceId],
    queryFn: async ({ signal }) => (await andante.trace(traceId, { signal })).spans,
  });

export const agentsQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: ({ signal }) => andante.agents({ signal }),
});

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agent", id],
    queryFn: ({ signal }) => andante.agent(id).details({ signal }),
    retry: false,
  });

/** The choices of an agent's playground; an error where it is off, or the user may not use it. */
export const playgroundQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["playground", agentId],
    queryFn: ({ signal }) => andante.agent(agentId).playground({ signal }),
    retry: false,
    ...fixed,
  });

/** The newest conversations whose title contains the text. */
export const conversationsQuery = (agentId: string, title = "") =>
  queryOptions({
    queryKey: ["conversations", agentId, ...(title === "" ? [] : ["title", title])],
    queryFn: async ({ signal }) =>
      await andante.conversations({ agentId, limit: 100, signal, ...(title !== "" && { title }) }),
    refetchInterval: askEvery,
    placeholderData: keepPreviousData,
  });

/** The newest warnings and errors of a conversation in the log; `when` changes with each failure. */
export const causesQuery = (conversationId: string, when: string) =>
  queryOptions({
    queryKey: ["failures", conversationId, when],
    queryFn: ({ signal }) => andante.logs({ conversationId, level: "warn", limit: 100, signal }),
    retry: false,
    // The same words may have another cause the next time.
    staleTime: 0,
  });

/** The messages that wait for their replies in a conversation. */
export const queueQuery = (agentId: string, conversationId: string) =>
  queryOptions({
    queryKey: ["queue", agentId, conversationId],
    queryFn: ({ signal }) => andante.agent(agentId).queue(conversationId, { signal }),
    refetchInterval: 2000,
  });

/** Whether a tool call in the conversation needs approval. Read again when the conversation has changed. */
export const waitsQuery = ({ conversationId, updatedAt }: Conversation) =>
  queryOptions({
    queryKey: ["waits", conversationId, updatedAt],
    queryFn: async ({ signal }) => {
      const conversation = andante.conversation(conversationId);
      const { messages } = await conversation.messages({ order: "newest", limit: 1, signal });
      return messages.some(({ parts }) => parts.some(({ state }) => state === "approval-requested"));
    },
    ...fixed,
  });

/** The spans of the newest replies in a conversation, the newest reply first. */
export const replySpansQuery = (agentId: string, conversationId: string) =>
  queryOptions({
    queryKey: ["conversations", agentId, "spans", conversationId],
    queryFn: async ({ signal }) => {
      const { traces } = await andante.traces({ entityType: "agent", entityId: agentId, limit: 50, signal });
      const own = traces.filter((trace) => trace.conversationId === conversationId).slice(0, 10);
      return Promise.all(own.map(({ traceId }) => andante.trace(traceId, { signal })));
    },
    // It is read when a reply has ended, which may be before its spans have.
    refetchInterval: ({ state }) => {
      const spans = state.data?.[0]?.spans ?? [];
      return spans.length > 0 && spans.every(({ endTime }) => endTime !== null) ? false : askEvery;
    },
  });

/** The traces page by page, newest first. */
export const tracesQuery = (query: TraceFilter) =>
  infiniteQueryOptions({
    queryKey: ["traces", query],
    queryFn: async ({ pageParam, signal }) =>
      await andante.traces({ ...query, cursor: pageParam || undefined, signal }),
    ...pages,
    // The feed covers executions; calls of agents are polled. Not while older pages are read.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : askEvery),
  });

export const traceQuery = (traceId: string) =>
  queryOptions({
    queryKey: ["trace", traceId],
    queryFn: ({ signal }) => andante.trace(traceId, { signal }),
    retry: false,
  });
