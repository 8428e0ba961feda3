// The one live feed: what changes in executions renews what pages show. It heals by itself.
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { address, call, headers } from "./call.ts";
import { readEventStream } from "./event-source.ts";
import type { ExecutionFilters } from "./queries.ts";
import { type Changes, Renewal } from "./renewal.ts";
import { currentToken, onTokenChange } from "./token.ts";
import type { ExecutionPage } from "./types.ts";

type FeedEvent = { readonly type: "open" } | ({ readonly type: "changes" } & Changes);

/** `starting` before the first connection, `connecting` once one was lost. */
export type LiveState = "starting" | "connecting" | "live" | "off";

/** Milliseconds without a byte, or without a response, after which a connection is given up: the server sends one each 15 s. */
const silence = 40_000;
const retryAfter = [500, 1000, 2000, 5000];

let state: LiveState = "starting";
const watchers = new Set<() => void>();

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

/** Connects, and connects again whenever the connection is lost; the function that it returns ends that. */
export function startLive(client: QueryClient): () => void {
  let attempts = 0;
  let connection = new AbortController();
  let ended = false;
  let wantsAnother = false;
  const readPage = async (filters: ExecutionFilters, limit: number, cursor: string) => {
    const token = currentToken();
    const page = await call<ExecutionPage>("/api/executions", { query: { ...filters, limit, cursor } });
    // What another user may see must not come to the screen late.
    return token === currentToken() ? page : undefined;
  };
  const renewal = new Renewal(client, readPage);
  const receive = (event: FeedEvent) => {
    if (event.type === "open") {
      become("live");
      // What changed while there was no connection is not told again.
      if (attempts > 0) void client.invalidateQueries();
      else renewal.opened();
      attempts = 0;
      return;
    }
    renewal.note(event);
  };
  const connect = async (): Promise<void> => {
    while (!ended) {
      const own = new AbortController();
      connection = own;
      const tooLate = setTimeout(() => own.abort(), silence);
      try {
        const response = await fetch(address("/api/changes"), {
          headers: headers(),
          signal: own.signal,
        });
        clearTimeout(tooLate);
        if (response.status === 401 || response.status === 403) {
          // Whoever may not see even the server's status is asked to sign in.
          void client.invalidateQueries({ queryKey: ["server"] });
          return become("off");
        }
        // What arrives has the shape that the API description gives it.
        if (response.ok) await readEventStream(response, (data) => receive(data as FeedEvent), silence);
      } catch {
        // Lost, or never there: tried again below.
      } finally {
        clearTimeout(tooLate);
      }
      if (ended) return;
      // Another user has signed in: nothing was lost.
      if (wantsAnother) {
        wantsAnother = false;
        attempts = 1;
        continue;
      }
      become("connecting");
      const wait = retryAfter[Math.min(attempts, retryAfter.length - 1)] ?? 5000;
      attempts += 1;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
  void connect();
  const forget = onTokenChange(() => {
    const wasOff = state === "off";
    become("starting");
    wantsAnother = !wasOff;
    connection.abort();
    if (wasOff) void connect();
  });
  return () => {
    ended = true;
    forget();
    renewal.stop();
    connection.abort();
  };
}
