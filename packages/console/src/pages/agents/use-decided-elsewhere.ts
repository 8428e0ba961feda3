// Notices that a tool call which waits in the open chat was decided elsewhere: in the inbox, or in another tab.
import { useQuery } from "@tanstack/react-query";
import { isToolUIPart, type UIMessage } from "ai";
import { useEffect, useRef } from "react";
import { andante } from "../../api/andante.ts";

/** Milliseconds between two reads while a call waits. */
const askEvery = 2000;

/** `last` is the newest message that is shown; undefined while a reply streams. */
export function useDecidedElsewhere(
  conversationId: string,
  last: UIMessage | undefined,
  onDecided: () => void,
): void {
  const parts = last?.parts.filter(isToolUIPart) ?? [];
  const shown = parts.filter(({ state }) => state === "approval-requested");
  const { data } = useQuery({
    queryKey: ["waiting", conversationId, last?.id],
    queryFn: async ({ signal }) => {
      const page = { order: "newest", limit: 1, signal } as const;
      const [newest] = (await andante.conversation(conversationId).messages(page)).messages;
      const waiting = newest?.parts.filter(({ state }) => state === "approval-requested") ?? [];
      return { id: newest?.id, calls: waiting.map(({ toolCallId }) => toolCallId) };
    },
    enabled: shown.length > 0,
    refetchInterval: askEvery,
    gcTime: 0,
  });
  const isDecided =
    data !== undefined &&
    shown.some(({ toolCallId }) => data.id !== last?.id || !data.calls.includes(toolCallId));
  const latest = useRef(onDecided);
  useEffect(() => {
    latest.current = onDecided;
  });
  useEffect(() => {
    if (isDecided) latest.current();
  }, [isDecided]);
}
