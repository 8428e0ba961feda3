// Finds executions by the strings and numbers in their values, newest first, a page at a time.
import { InvalidOptionError, SearchUnsupportedError } from "../../errors/index.ts";
import { checkLimit, isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import type { SearchMatch } from "../../store/search-store.ts";
import type { Store } from "../../store/store.ts";
import { type ExecutionSummary, viewSummary } from "../stream/views.ts";
import type { ListOptions } from "./list.ts";

/** Filters of a search; its text is a string or a number of the values, or from three characters on its beginning. */
export interface SearchOptions
  extends Pick<ListOptions, "workflowId" | "status" | "userId" | "from" | "to" | "cursor" | "limit"> {
  readonly text: string;
}

export interface FoundSummary extends ExecutionSummary {
  /** Where the text was found, at most 5 places. */
  readonly matches: readonly SearchMatch[];
}

export interface SearchPage {
  readonly executions: readonly FoundSummary[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** False when so many values match that not all of them were read. */
  readonly complete: boolean;
}

/** The longest text, in characters; values are indexed with fewer. */
const maxText = 1000;

export async function searchExecutions(store: Store, options: SearchOptions): Promise<SearchPage> {
  const { text, cursor, limit = 50, from, to, workflowId, status, userId } = options;
  if (store.search === undefined) throw new SearchUnsupportedError();
  if (text.trim() === "" || text.length > maxText) {
    throw new InvalidOptionError({ option: "text", problem: `expected 1 to ${maxText} characters` });
  }
  checkLimit(limit, 100);
  const place = cursor === undefined ? undefined : readCursor(cursor, isTimeAndId);
  const before = place && { startAt: place[0], executionId: place[1] };
  const filters = { workflowId, status, userId, from: from?.getTime(), to: to?.getTime() };
  const { found, more, complete } = await store.search.find({ text, ...filters, before, limit });
  const last = found.at(-1)?.execution;
  return {
    executions: found.map(({ execution, matches }) => ({ ...viewSummary(execution), matches })),
    nextCursor: more && last !== undefined ? writeCursor(last.startAt, last.executionId) : null,
    complete,
  };
}
