// The one live feed: what changes in executions renews what pages show. It heals by itself.
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { address, call, headers } from "./call.ts";
import { readEventStream } from "./event-source.ts";
import type { ExecutionFilters } from "./queries.ts";
import { currentToken, onTokenChange } from "./token.ts";
import type { ExecutionPage } from "./types.ts";

export interface Change {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status?: string;
  readonly stepPath?: string;
  readonly sequence: number;
  readonly timestamp: string;
}

type FeedEvent =
  | { readonly type: "open" }
  | { readonly type: "changes"; readonly executions: readonly Change[]; readonly missed: number };

export type LiveState = "connecting" | "live" | "off";

/** Milliseconds: at most this often are whole lists read again. */
const renewEvery = 1000;
/** The same for counts over time, which are more work. */
const countEvery = 4000;
const retryAfter = [500, 1000, 2000, 5000];

let state: LiveState = "connecting";
const watchers = new Set<() => void>();
const followers = new Set<(changes: readonly Change[]) => void>();

function become(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const watcher of watchers) watcher();
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    () => state,
  );
}

/** Hears of every change until the function that it returns is called. */
export function followChanges(follower: (changes: readonly Change[]) => void): () => void {
  followers.add(follower);
  return () => void followers.delete(follower);
}

/** Connects, and connects again whenever the connection is lost; the function that it returns ends that. */
export function startLive(client: QueryClient): () => void {
  let attempts = 0;
  let connection = new AbortController();
  let ended = false;
  const renewal = renewLater(client);
  const receive = (event: FeedEvent) => {
    if (event.type === "open") {
      become("live");
      // What changed while there was no connection is not told again.
      if (attempts > 0) void client.invalidateQueries();
      attempts = 0;
      return;
    }
    patchRows(client, event.executions);
    for (const follower of followers) follower(event.executions);
    renewal.note(event.executions, event.missed);
  };
  const connect = async (): Promise<void> => {
    while (!ended) {
      connection = new AbortController();
      try {
        const response = await fetch(address("/api/changes"), {
          headers: headers(),
          signal: connection.signal,
        });
        if (response.status === 401 || response.status === 403) {
          // Whoever may not see even the server's status is asked to sign in.
          void client.invalidateQueries({ queryKey: ["server"] });
          return become("off");
        }
        // What arrives has the shape that the API description gives it.
        if (response.ok) await readEventStream(response, (data) => receive(data as FeedEvent));
      } catch {
        // Lost, or never there: tried again below.
      }
      if (ended) return;
      become("connecting");
      const wait = retryAfter[Math.min(attempts, retryAfter.length - 1)] ?? 5000;
      attempts += 1;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
  void connect();
  const forget = onTokenChange(() => {
    const wasOff = state === "off";
    become("connecting");
    connection.abort();
    if (wasOff) void connect();
  });
  return () => {
    ended = true;
    forget();
    connection.abort();
  };
}

/** Rows that are on the screen change at once, without reading the list again. */
function patchRows(client: QueryClient, changes: readonly Change[]): void {
  const byId = new Map(changes.map((change) => [change.executionId, change]));
  client.setQueriesData<InfiniteData<ExecutionPage>>({ queryKey: ["executions"] }, (data) => {
    if (data === undefined) return data;
    let touched = false;
    const pages = data.pages.map((page) => {
      if (!page.executions.some(({ executionId }) => byId.has(executionId))) return page;
      touched = true;
      const executions = page.executions.map((row) => {
        const change = byId.get(row.executionId);
        if (change === undefined) return row;
        const { status = row.status, stepPath = row.stepPath } = change;
        const isOver = status !== "running" && status !== "suspended";
        const fields = {
          status,
          endAt: isOver ? change.timestamp : row.endAt,
          ...(stepPath && { stepPath }),
        };
        return { ...row, ...fields } as typeof row;
      });
      return { ...page, executions };
    });
    return touched ? { ...data, pages } : data;
  });
}

/** Reads again what lists, counts and the inbox show, soon but not for every change. */
function renewLater(client: QueryClient): { note(changes: readonly Change[], missed: number): void } {
  let isPlanned = false;
  let last = 0;
  let counted = 0;
  const ids = new Set<string>();
  // Some changes were too many to name: any execution, and any row of a list, may be among them.
  let isAny = false;
  let isAnyRow = false;
  const renew = () => {
    isPlanned = false;
    last = Date.now();
    for (const name of ["inbox", "server"]) void client.invalidateQueries({ queryKey: [name] });
    if (last - counted > countEvery) {
      counted = last;
      void client.invalidateQueries({ queryKey: ["activity"] });
      if (isAnyRow) void client.invalidateQueries({ queryKey: ["executions"] });
      isAnyRow = false;
    }
    void renewLists(client);
    const isChanged = (id: unknown) => isAny || (typeof id === "string" && ids.has(id));
    void client.invalidateQueries({
      queryKey: ["execution"],
      predicate: ({ queryKey: [, id] }) => isChanged(id),
    });
    ids.clear();
    isAny = false;
  };
  return {
    note: (changes, missed) => {
      for (const { executionId } of changes) ids.add(executionId);
      if (missed > 0) {
        isAny = true;
        isAnyRow = true;
      }
      if (isPlanned) return;
      isPlanned = true;
      setTimeout(renew, Math.max(30, renewEvery - (Date.now() - last)));
    },
  };
}

/** Reads the first page of each list that is shown; the pages below it stay as they are. */
async function renewLists(client: QueryClient): Promise<void> {
  for (const query of client.getQueryCache().findAll({ queryKey: ["executions"], type: "active" })) {
    const [, filters, limit] = query.queryKey as [string, ExecutionFilters, number];
    const token = currentToken();
    const first = await call<ExecutionPage>("/api/executions", { query: { ...filters, limit } }).catch(
      () => undefined,
    );
    // What another user may see must not come to the screen late.
    if (first === undefined || token !== currentToken()) continue;
    client.setQueryData<InfiniteData<ExecutionPage>>(query.queryKey, (data) => {
      if (data === undefined || data.pages.length < 2) return { pages: [first], pageParams: [""] };
      const known = new Set(data.pages.flatMap(({ executions }) => executions.map((row) => row.executionId)));
      const fresh = first.executions.filter(({ executionId }) => !known.has(executionId));
      const [top = first, ...below] = data.pages;
      return { ...data, pages: [{ ...top, executions: [...fresh, ...top.executions] }, ...below] };
    });
  }
}
