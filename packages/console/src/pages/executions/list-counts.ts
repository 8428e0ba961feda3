// The numbers of executions that are known without counting the list: the server's counts per minute, running
// executions and the inbox. A list of millions is never counted for a page.
import type { ExecutionStatus } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { activityQuery, inboxQuery, serverQuery } from "../../api/queries.ts";
import { count } from "../../format/numbers.ts";
import type { Search } from "../../layout/search.ts";
import { spanOf } from "./spans.ts";

/** The counts of the list's period; of the last hour when it has no period. */
export function useActivityOf({ workflowId, since }: Search) {
  const span = spanOf(since ?? "1h");
  const query = { ...(workflowId && { workflowId }), ...(span && { from: span.from }), points: 60 };
  const { data } = useQuery(activityQuery(query));
  return { activity: data, label: span?.label ?? "last hour" };
}

export type StatusCounts = Readonly<
  Partial<Record<ExecutionStatus, { readonly number: string; readonly words: string }>>
>;

/** The known counts by status; none with a filter by user, tag or id, which the counts do not have. */
export function useStatusCounts(search: Search): StatusCounts {
  const { activity, label } = useActivityOf(search);
  const { data: server } = useQuery(serverQuery);
  const { data: inbox } = useQuery(inboxQuery);
  const { workflowId, userId, tag, id } = search;
  return useMemo(() => {
    if (userId ?? tag ?? id) return {};
    const sum = (of: "completed" | "failed" | "cancelled") =>
      activity?.points.reduce((total, point) => total + point[of], 0) ?? 0;
    const waiting = inbox?.items.filter(
      (item) => item.agentId === null && (workflowId ?? item.workflowId) === item.workflowId,
    ).length;
    // Null for a user that sees only its own executions.
    const running = workflowId === undefined ? (server?.slots.running ?? 0) : 0;
    const known = {
      running: [count(running), running, "now"],
      suspended: [`${count(waiting ?? 0)}${inbox?.more ? "+" : ""}`, waiting ?? 0, "now, for a person"],
      completed: [count(sum("completed")), sum("completed"), label],
      error: [count(sum("failed")), sum("failed"), label],
      cancelled: [count(sum("cancelled")), sum("cancelled"), label],
    } as const;
    const some = Object.entries(known).filter(([, [, value]]) => value > 0);
    return Object.fromEntries(some.map(([status, [number, , words]]) => [status, { number, words }]));
  }, [activity, server, inbox, workflowId, userId, tag, id, label]);
}
