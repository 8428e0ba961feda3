// The feed of changes: refreshes the visible data, and reconnects automatically.
import { AndanteApiError, type ChangeEvent } from "@andante/client";
import type { QueryClient } from "@tanstack/react-query";
import { andante } from "./andante.ts";
import { type ExecutionFilters, readExecutions } from "./queries.ts";
import { Renewal } from "./renewal.ts";
import { Shared, useShared } from "./shared.ts";
import { currentToken, onTokenChange } from "./token.ts";

/** `starting` before the first connection, `connecting` after a lost one. */
export type LiveState = "starting" | "connecting" | "live" | "off";

/** Milliseconds before the next attempts to connect. */
const retryAfter = [500, 1000, 2000, 5000];

const state = new Shared<LiveState>("starting");

export const useLiveState = () => useShared(state);

/** Connects, and reconnects after a lost connection; the returned function stops it. */
export function startLive(client: QueryClient): () => void {
  let attempts = 0;
  let connection = new AbortController();
  let ended = false;
  let wantsAnother = false;
  const readPage = async (filters: ExecutionFilters, limit: number, cursor: string) => {
    const token = currentToken();
    const page = await readExecutions({ ...filters, limit, cursor });
    // A late response for the previous user must not be shown.
    return token === currentToken() ? page : undefined;
  };
  const renewal = new Renewal(client, readPage);
  const receive = (event: ChangeEvent) => {
    if (event.type === "open") {
      state.set("live");
      // Changes while there was no connection are not sent again.
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
      try {
        for await (const event of andante.changes({ signal: own.signal })) receive(event);
      } catch (error) {
        if (error instanceof AndanteApiError && (error.status === 401 || error.status === 403)) {
          // A caller that may not read the server's status is asked to sign in.
          void client.invalidateQueries({ queryKey: ["server"] });
          return state.set("off");
        }
      }
      if (ended) return;
      // Another user has signed in: this is not a lost connection.
      if (wantsAnother) {
        wantsAnother = false;
        attempts = 1;
        continue;
      }
      state.set("connecting");
      const wait = retryAfter[Math.min(attempts, retryAfter.length - 1)] ?? 5000;
      attempts += 1;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
  void connect();
  const forget = onTokenChange(() => {
    const wasOff = state.get() === "off";
    state.set("starting");
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
