// Loads older messages on demand and inserts them above without moving the visible ones.
import type { UIMessage } from "ai";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { loadMessages } from "./kept-messages.ts";

export interface Older {
  /** Undefined when all messages are shown, or older ones are being loaded. */
  readonly load: (() => void) | undefined;
  readonly error: unknown;
}

export function useOlder(
  conversationId: string,
  from: string | null,
  first: UIMessage | undefined,
  prepend: (older: UIMessage[]) => void,
  box: RefObject<HTMLElement | null>,
): Older {
  const [cursor, setCursor] = useState(from);
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<unknown>();
  /** The distance from the end, which must not change. */
  const fromEnd = useRef<number>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed first message means that older ones are rendered
  useLayoutEffect(() => {
    if (box.current === null || fromEnd.current === undefined) return;
    box.current.scrollTop = box.current.scrollHeight - fromEnd.current;
    fromEnd.current = undefined;
  }, [first?.id]);
  const load = async (at: string) => {
    setLoading(true);
    setError(undefined);
    try {
      const page = await loadMessages(conversationId, at);
      if (box.current !== null) fromEnd.current = box.current.scrollHeight - box.current.scrollTop;
      prepend(page.messages);
      setCursor(page.older);
    } catch (problem) {
      setError(problem);
    }
    setLoading(false);
  };
  return { load: cursor === null || isLoading ? undefined : () => void load(cursor), error };
}
