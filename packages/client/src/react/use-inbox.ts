// useInbox: open suspensions, live.
import { useState } from "react";
import type { InboxFilter } from "../overview.ts";
import type { ChangeEvent, ExecutionChange, Inbox } from "../responses/wire.ts";
import { coalesce, useTask } from "./follow.ts";

/** Milliseconds that the server caches an inbox, plus a margin. */
const keptByServer = 250;

/** A client. */
export interface InboxSource<WorkflowId extends string = string> {
  inbox(filter?: InboxFilter<WorkflowId>): Promise<Inbox>;
  changes(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<ChangeEvent>;
}

export interface LiveInbox extends Inbox {
  /** True after the first read. */
  readonly isRead: boolean;
  /** The error that ended the updates. */
  readonly error: unknown;
}

/**
 * The open suspensions of all workflows and chats, or of one workflow or agent, read again whenever an execution changes:
 * the first page, in any order, with a text and with counts.
 *
 * @example
 * ```ts
 * import { createClient } from "@andante/client";
 * import { useInbox } from "@andante/client/react";
 *
 * const andante = createClient({ baseUrl: "http://localhost:3141" });
 * export const useOpenRefunds = () => useInbox(andante, { workflowId: "refund" }).items.length;
 * ```
 */
export function useInbox<WorkflowId extends string>(
  client: InboxSource<WorkflowId>,
  filter: Omit<InboxFilter<NoInfer<WorkflowId>>, "cursor" | "signal"> = {},
): LiveInbox {
  const { workflowId, agentId, limit, text, order, counts } = filter;
  const asked = { workflowId, agentId, limit, text, order, counts };
  const key = JSON.stringify(asked);
  const [inbox, setInbox] = useState<LiveInbox & { readonly key?: string }>(nothing);
  // A change of a chat has no workflow. Counts are of everything.
  const shown = counts ? undefined : agentId === undefined ? workflowId : "";
  const isShown = (change: ExecutionChange) => shown === undefined || change.workflowId === shown;
  const fail = (error: unknown) =>
    setInbox((before) => ({ ...(before.key === key ? before : nothing), error, key }));
  const follow = async (signal: AbortSignal) => {
    const read = coalesce(
      async () => {
        const found = await client.inbox({ ...asked, signal });
        if (!signal.aborted) setInbox({ ...found, isRead: true, error: undefined, key });
      },
      (error) => !signal.aborted && fail(error),
    );
    for await (const event of client.changes({ signal })) {
      if (event.type === "open") {
        read();
        // The server caches an inbox for a moment: changes right before the feed opened may be missing.
        setTimeout(read, keptByServer);
      } else if (event.missed > 0 || event.executions.some(isShown)) read();
    }
  };
  useTask(key, follow, fail);
  const { key: read, ...found } = inbox;
  // The items of another filter must not be shown, not even for one rendering.
  return read === key ? found : nothing;
}

const nothing = { items: [], more: false, nextCursor: null, isRead: false, error: undefined };
