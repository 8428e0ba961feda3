// A scrollable list of rows of one height; renders only the visible ones.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";

type Rows = ReturnType<typeof useVirtualizer<HTMLElement, Element>>;

/** The state of a list: for `VirtualRows`, and to scroll to a row. */
export function useVirtualRows(
  count: number,
  height: number,
  options: { readonly overscan: number; readonly scrollPaddingStart?: number },
) {
  const box = useRef<HTMLElement>(null);
  const getScrollElement = () => box.current;
  const virtual = useVirtualizer({ count, getScrollElement, estimateSize: () => height, ...options });
  return { box, virtual };
}

/**
 * Scrolls to a row that is out of sight, not to the edge: rows beside it are in sight too, and the box may shrink while a
 * page is loaded. A row in sight costs nothing, while each scroll makes the browser lay out the page.
 */
export function bringIntoSight(virtual: Rows, index: number): void {
  const { startIndex, endIndex } = virtual.range ?? { startIndex: 0, endIndex: -1 };
  if (index <= startIndex || index >= endIndex) virtual.scrollToIndex(index, { align: "center" });
}

export function VirtualRows<Row>({
  list: { box, virtual },
  rows,
  className,
  label,
  head,
  onHold,
  children,
}: {
  readonly list: ReturnType<typeof useVirtualRows>;
  readonly rows: readonly Row[];
  readonly className: string;
  readonly label: string;
  /** Content above the rows. */
  readonly head?: ReactNode;
  /** Called when a mouse enters and leaves the list. */
  readonly onHold?: (isHeld: boolean) => void;
  /** Renders a row, with a key, `start` pixels below the first. */
  readonly children: (row: Row, start: number, index: number) => ReactNode;
}) {
  return (
    <section
      ref={box}
      className={className}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      onPointerEnter={({ pointerType }) => pointerType === "mouse" && onHold?.(true)}
      onPointerLeave={() => onHold?.(false)}
    >
      {head}
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row && children(row, start, index);
        })}
      </div>
    </section>
  );
}
