// The filters of an address, as the server takes them.
import type { ExecutionFilters } from "../../api/queries.ts";
import { executionStatuses } from "../../format/status.ts";
import type { Search } from "../../layout/search.ts";
import { spanOf } from "./spans.ts";

export function filtersOf({ since, status, parked, ...search }: Search): ExecutionFilters {
  const { workflowId, userId, tag, id, text, replayOf } = search;
  const given = {
    ...{ workflowId, userId, tag, id, text, replayOf },
    status: executionStatuses.find((each) => each === status),
    parked: parked === "true" || undefined,
    from: spanOf(since)?.from,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
}
