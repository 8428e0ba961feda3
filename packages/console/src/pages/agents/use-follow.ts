// Keeps the end of a chat in sight as it grows, unless the user reads above it.
import type { UIMessage } from "ai";
import { type RefObject, useEffect, useRef } from "react";

/** Pixels above the end that still count as the end. */
const near = 40;

/** Returns the handler for scrolling of the box. */
export function useFollow(
  box: RefObject<HTMLElement | null>,
  last: UIMessage | undefined,
  isSent: boolean,
): () => void {
  const atEnd = useRef(true);
  const top = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each new piece, and not when a reply ends
  useEffect(() => {
    if (last?.role === "user" && isSent) atEnd.current = true;
    if (atEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [last]);
  return () => {
    if (box.current === null) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    if (scrollTop + clientHeight > scrollHeight - near) atEnd.current = true;
    // Only a person scrolls up. To be far from the end is not enough: it may have moved on since it was last shown.
    else if (scrollTop < top.current) atEnd.current = false;
    top.current = scrollTop;
  };
}
