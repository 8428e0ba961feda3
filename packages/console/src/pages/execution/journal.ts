// The journal of one execution: read page after page, then the events that were added.
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { andante } from "../../api/andante.ts";
import type { ExecutionEvent } from "../../api/types.ts";

const endings = new Set(["workflow-complete", "workflow-error", "workflow-cancelled"]);

/** Its key starts with the execution's, so that the live feed refreshes both. */
export const journalQuery = (client: QueryClient, id: string) =>
  queryOptions({
    queryKey: ["execution", id, "journal"],
    queryFn: async ({ signal }) => {
      const known = client.getQueryData<readonly ExecutionEvent[]>(["execution", id, "journal"]) ?? [];
      // The journal is complete: the same array, so that nothing is rendered again.
      if (isEnd(known.at(-1))) return known;
      const events: ExecutionEvent[] = [...known];
      for (;;) {
        const after = events.at(-1)?.sequence ?? 0;
        const page = await andante.execution(id).events({ after, limit: 5000, signal });
        events.push(...page);
        // A page of long values is short: without a final event more events may follow.
        if (page.length === 0 || isEnd(page.at(-1))) return events;
      }
    },
    structuralSharing: false,
    retry: false,
  });

/** Whether the event is final. A step may emit an event of any name, but that one has `from`. */
function isEnd(event: ExecutionEvent | undefined): boolean {
  return event !== undefined && event.from === undefined && endings.has(event.type);
}
