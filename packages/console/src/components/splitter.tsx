// A bar between two panes that can be dragged, or moved with the arrow keys. The size is kept in the browser.
import { type KeyboardEvent, type PointerEvent, useEffect, useState } from "react";

/** The size of a pane; undefined until the user has changed it. */
export function usePaneSize(name: string): readonly [size: number | undefined, set: (size: number) => void] {
  const key = `andante-pane-${name}`;
  const [size, set] = useState<number | undefined>(() => {
    const kept = Number(localStorage.getItem(key));
    return Number.isFinite(kept) && kept > 0 ? kept : undefined;
  });
  useEffect(() => {
    if (size !== undefined) localStorage.setItem(key, String(Math.round(size)));
  }, [key, size]);
  return [size, set];
}

const step = 24;

export function Splitter({
  label,
  axis,
  sign = 1,
  pane,
  onSize,
}: {
  readonly label: string;
  /** The direction in which it moves. */
  readonly axis: "x" | "y";
  /** -1 for a pane that grows when the bar moves left or up. */
  readonly sign?: 1 | -1;
  /** Finds the pane whose size it changes. */
  readonly pane: () => Element | null;
  readonly onSize: (size: number) => void;
}) {
  const sizeNow = () => {
    const { width = 0, height = 0 } = pane()?.getBoundingClientRect() ?? {};
    return axis === "x" ? width : height;
  };
  const change = (size: number) => {
    const most = (axis === "x" ? innerWidth : innerHeight) - 240;
    onSize(Math.min(most, Math.max(120, size)));
  };
  const drag = ({ currentTarget, pointerId, clientX, clientY }: PointerEvent<HTMLElement>) => {
    const [from, before] = [axis === "x" ? clientX : clientY, sizeNow()];
    currentTarget.setPointerCapture(pointerId);
    const move = (event: globalThis.PointerEvent) =>
      change(before + sign * ((axis === "x" ? event.clientX : event.clientY) - from));
    const target = currentTarget;
    target.addEventListener("pointermove", move);
    target.addEventListener("lostpointercapture", () => target.removeEventListener("pointermove", move), {
      once: true,
    });
  };
  const press = (event: KeyboardEvent) => {
    const [less, more] = axis === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    change(sizeNow() + sign * (event.key === more ? step : -step));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be focused or moved
    <div
      className="splitter"
      role="separator"
      aria-label={label}
      aria-orientation={axis === "x" ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(sizeNow())}
      tabIndex={0}
      data-axis={axis}
      onPointerDown={drag}
      onKeyDown={press}
    />
  );
}
