// The filters of an address, as the server takes them.
import type { ExecutionFilters } from "../../api/queries.ts";
import { executionStatuses } from "../../format/status.ts";
import type { Search } from "../../layout/search.ts";
import { spanOf } from "./spans.ts";

export function filtersOf({ workflowId, userId, tag, id, text, since, ...search }: Search): ExecutionFilters {
  const status = executionStatuses.find((each) => each === search.status);
  const given = { status, workflowId, userId, tag, id, text, from: spanOf(since)?.from };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
}
