// Keeps the end of a growing chat in view, unless the user has scrolled up.
import type { UIMessage } from "ai";
import { type RefObject, useEffect, useRef } from "react";

/** Pixels from the end that still count as the end. */
const near = 40;

/** Returns the scroll handler of the box. */
export function useFollow(
  box: RefObject<HTMLElement | null>,
  last: UIMessage | undefined,
  isSent: boolean,
): () => void {
  const atEnd = useRef(true);
  const top = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each new piece, not at the end of a reply
  useEffect(() => {
    if (last?.role === "user" && isSent) atEnd.current = true;
    if (atEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [last]);
  // Messages grow after they are drawn, when the code of their parts arrives or the window changes its size.
  useEffect(() => {
    const outer = box.current;
    const inner = outer?.firstElementChild;
    if (outer == null || inner == null) return;
    const sizes = new ResizeObserver(() => {
      if (atEnd.current) outer.scrollTop = outer.scrollHeight;
    });
    sizes.observe(outer);
    sizes.observe(inner);
    return () => sizes.disconnect();
  }, [box]);
  return () => {
    if (box.current === null) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    if (scrollTop + clientHeight > scrollHeight - near) atEnd.current = true;
    // Only the user scrolls up. The distance from the end is not enough: the content may have grown since the last
    // scroll.
    else if (scrollTop < top.current) atEnd.current = false;
    top.current = scrollTop;
  };
}
