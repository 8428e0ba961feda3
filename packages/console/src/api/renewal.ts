// Data of pages that a change in executions renews: rows at once, lists soon, counts and traces more slowly.
import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query";
import { mergeFirstPage, patchRows, replaceRows } from "./execution-pages.ts";
import { paced } from "./paced.ts";
import type { ExecutionFilters } from "./queries.ts";
import type { ExecutionChange, ExecutionPage, Trace } from "./types.ts";

/** Changed executions, and how many more have changed, too many to name. */
export interface Changes {
  readonly executions: readonly ExecutionChange[];
  readonly missed: number;
}

/** Reads a page of a list, from a cursor on; undefined when it is not wanted any more. */
export type ReadPage = (
  filters: ExecutionFilters,
  limit: number,
  cursor: string,
) => Promise<ExecutionPage | undefined>;

type Pages = InfiniteData<ExecutionPage, string>;
type ListKey = [name: string, filters: ExecutionFilters, limit: number];

/** Milliseconds: at most this often are the first pages of lists read again. */
const renewEvery = 1000;
/** The same for larger reads: counts over time, logs, traces, and rows further down in a list. */
const slowlyEvery = 4000;
/** Pages further down that are read again at once. */
const mostBelow = 5;
/** Lists of more pages are not read again by themselves. */
const mostTracePages = 3;

export class Renewal {
  readonly #client: QueryClient;
  readonly #readPage: ReadPage;
  /** Undefined when too many have changed to name them. */
  #changed: Set<string> | undefined = new Set();
  /** The same. */
  #changedSlowly: Set<string> | undefined = new Set();
  readonly #soon = paced(renewEvery, () => this.#renewSoon());
  // The server shows the counts that it has read for two seconds more: after the last change they are read once more.
  readonly #slowly = paced(slowlyEvery, () => this.#renewSlowly(), { again: true });

  #firstReading: ReturnType<typeof setTimeout> | undefined;

  constructor(client: QueryClient, readPage: ReadPage) {
    this.#client = client;
    this.#readPage = readPage;
  }

  note({ executions, missed }: Changes): void {
    const byId = new Map(executions.map((change) => [change.executionId, change]));
    this.#client.setQueriesData<Pages>({ queryKey: ["executions"] }, (data) => data && patchRows(data, byId));
    if (missed > 0) this.#changed = this.#changedSlowly = undefined;
    for (const id of byId.keys()) {
      this.#changed?.add(id);
      this.#changedSlowly?.add(id);
    }
    this.#soon();
    this.#slowly();
  }

  /**
   * The feed is open for the first time. Changes between the read of a page and this moment were not sent, so it is
   * read once more; not at once, since the page is being drawn.
   */
  opened(): void {
    this.#firstReading = setTimeout(() => {
      this.#changed = undefined;
      this.#soon();
      this.#slowly();
    }, renewEvery);
  }

  stop(): void {
    clearTimeout(this.#firstReading);
    this.#soon.stop();
    this.#slowly.stop();
  }

  #renewSoon(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    const isChanged = ({ queryKey: [name, id] }: Query) =>
      name === "inbox" ||
      name === "server" ||
      (name === "execution" && (changed === undefined || changed.has(String(id))));
    void this.#client.invalidateQueries({ predicate: isChanged });
    void this.#renewLists();
  }

  #renewSlowly(): void {
    const changed = this.#changedSlowly;
    this.#changedSlowly = new Set();
    void this.#client.invalidateQueries({ predicate: isSlow });
    if (changed === undefined) void this.#client.invalidateQueries({ queryKey: ["executions"] });
    else void this.#renewBelow(changed);
  }

  /** Reads the first page of each list that is shown. */
  async #renewLists(): Promise<void> {
    for (const key of this.#shownLists()) {
      const [, filters, limit] = key;
      const first = await this.#readPage(filters, limit, "").catch(() => undefined);
      if (first === undefined) continue;
      this.#client.setQueryData<Pages>(key, (data) => mergeFirstPage(data, first, filters.status));
    }
  }

  /** Reads the other pages in which something has changed, for fields that the feed does not have. */
  async #renewBelow(changed: ReadonlySet<string>): Promise<void> {
    for (const key of this.#shownLists()) {
      const [, filters, limit] = key;
      const { pages = [], pageParams = [] } = this.#client.getQueryData<Pages>(key) ?? {};
      const cursors = pages.flatMap(({ executions }, index) => {
        const cursor = pageParams[index];
        const touched = executions.some(({ executionId }) => changed.has(executionId));
        return touched && cursor ? [cursor] : [];
      });
      for (const cursor of cursors.slice(0, mostBelow)) {
        const page = await this.#readPage(filters, limit, cursor).catch(() => undefined);
        if (page === undefined) continue;
        this.#client.setQueryData<Pages>(key, (data) => data && replaceRows(data, page.executions));
      }
    }
  }

  #shownLists(): ListKey[] {
    const queries = this.#client.getQueryCache().findAll({ queryKey: ["executions"], type: "active" });
    // Only `executionsQuery` makes keys of this name.
    return queries.map(({ queryKey }) => queryKey as ListKey);
  }
}

function isSlow({ queryKey, state }: Query): boolean {
  const [name] = queryKey;
  if (name === "activity" || name === "observed") return true;
  // Not the spans of replies below it, which are many reads.
  if (name === "conversations") return queryKey.length === 2;
  // `tracesQuery` and `traceQuery` read the data under these keys.
  if (name === "traces") return ((state.data as InfiniteData<unknown>)?.pages.length ?? 0) <= mostTracePages;
  if (name === "trace") return (state.data as Trace)?.roots.some(({ endTime }) => endTime === null) ?? true;
  return false;
}
