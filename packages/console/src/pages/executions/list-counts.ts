// The numbers above the list: of its executions by status, and of those that started over time.
import type { ExecutionCounts } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { activityQuery } from "../../api/queries.ts";
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

type StatusCount = ExecutionCounts[keyof ExecutionCounts];

/** "12", or "500+" when there are more than were counted. */
export function countText({ count: number, more }: StatusCount): string {
  return `${count(number)}${more ? "+" : ""}`;
}

/** The executions of one status, or of all. */
export function countsOf(counts: ExecutionCounts, status: keyof ExecutionCounts | undefined): StatusCount {
  const some = status === undefined ? Object.values(counts) : [counts[status]];
  return {
    count: some.reduce((total, each) => total + each.count, 0),
    more: some.some(({ more }) => more),
  };
}

/** The number of executions of a list; "more than" where it is not counted. */
export function totalText(counted: StatusCount | undefined, shown: number, isWhole: boolean): string {
  if (isWhole) return `${count(shown)} in all`;
  const { count: sum = 0, more = true } = counted ?? {};
  return sum > shown && !more ? `${count(sum)} in all` : `more than ${count(Math.max(sum, shown))}`;
}
