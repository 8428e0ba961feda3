// Refreshes the visible data after changes of executions: rows at once, lists soon, counts and traces less often.
import type { ExecutionChange, Trace } from "@andante/client";
import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query";
import { mergeFirstPage, patchRows, replaceRows } from "./execution-pages.ts";
import { paced } from "./paced.ts";
import type { ExecutionFilters } from "./queries.ts";
import type { ExecutionPage } from "./types.ts";

/** Changed executions, and the number of further ones that did not fit into the event. */
export interface Changes {
  readonly executions: readonly ExecutionChange[];
  readonly missed: number;
}

/** Reads a page of a list after a cursor; undefined when the result is obsolete. */
export type ReadPage = (
  filters: ExecutionFilters,
  limit: number,
  cursor: string,
) => Promise<ExecutionPage | undefined>;

type Pages = InfiniteData<ExecutionPage, string>;
type ListKey = [name: string, filters: ExecutionFilters, limit: number];

/** Minimum milliseconds between two reads of the first pages of lists. */
const renewEvery = 1000;
/** The same for expensive data: counts over time, logs, traces, and later pages of lists. */
const slowlyEvery = 4000;
/** Maximum later pages that are read again at once. */
const mostBelow = 5;
/** Longer lists of traces, events and deliveries are not refreshed automatically. */
const mostPages = 3;

export class Renewal {
  readonly #client: QueryClient;
  readonly #readPage: ReadPage;
  /** Undefined when too many executions have changed to list them. */
  #changed: Set<string> | undefined = new Set();
  /** The same for the slow refresh. */
  #changedSlowly: Set<string> | undefined = new Set();
  readonly #soon = paced(renewEvery, () => this.#renewSoon());
  // The server caches counts for two seconds: after the last change they are read once more.
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
   * Called when the feed opens for the first time. Changes between a page's first read and this moment were not sent,
   * so the data is read once more; not at once, since the page is rendering.
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
    if (this.#readAgain(isChanged)) this.#soon();
    void this.#renewLists();
  }

  #renewSlowly(): void {
    const changed = this.#changedSlowly;
    this.#changedSlowly = new Set();
    // Those that are left are among the next, which follows in any case.
    this.#readAgain(isSlow);
    if (changed === undefined) void this.#client.invalidateQueries({ queryKey: ["executions"] });
    else void this.#renewBelow(changed);
  }

  /** Leaves out the lists whose next page is being read, which would be dropped; true where there are some. */
  #readAgain(isChanged: (query: Query) => boolean): boolean {
    void this.#client.invalidateQueries({ predicate: (query) => isChanged(query) && !readsNextPage(query) });
    const predicate = (query: Query) => isChanged(query) && readsNextPage(query);
    return this.#client.getQueryCache().findAll({ predicate }).length > 0;
  }

  /** Reads the first page of each visible list. */
  async #renewLists(): Promise<void> {
    for (const key of this.#shownLists()) {
      const [, filters, limit] = key;
      const first = await this.#readPage(filters, limit, "").catch(() => undefined);
      if (first === undefined) continue;
      this.#client.setQueryData<Pages>(key, (data) => mergeFirstPage(data, first, filters.status));
    }
  }

  /** Reads the later pages with changed rows, for fields that the feed does not contain. */
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
    // Only `executionsQuery` creates keys of this name.
    return queries.map(({ queryKey }) => queryKey as ListKey);
  }
}

function readsNextPage({ state }: Query): boolean {
  return state.fetchStatus === "fetching" && state.fetchMeta?.fetchMore !== undefined;
}

function isSlow({ queryKey, state }: Query): boolean {
  const [name] = queryKey;
  if (name === "activity" || name === "observed") return true;
  // Not the spans of replies, whose keys are longer: they need many reads.
  if (name === "conversations") return queryKey.length === 2;
  // `tracesQuery`, `eventsQuery`, `deliveriesQuery` and `traceQuery` define the data of these keys.
  if (name === "traces" || ((name === "events" || name === "deliveries") && queryKey[1] === "list"))
    return ((state.data as InfiniteData<unknown>)?.pages.length ?? 0) <= mostPages;
  if (name === "events" || name === "deliveries") return true;
  if (name === "trace") return (state.data as Trace)?.roots.some(({ endTime }) => endTime === null) ?? true;
  return false;
}
