// The part of the graph that is in sight when a step is selected.
import type { Viewport } from "@xyflow/react";
import type { PlacedNode } from "./layout.ts";

/** Below this scale the names of steps cannot be read. */
export const legible = 0.6;
/** The scale at which a step is shown where the width of the graph allows it. */
const usual = 0.85;
/** Pixels between the steps and the sides of the pane. */
export const margin = 8;

/** Steps side by side are shown whole as long as they are legible, otherwise from the left edge of the graph. */
export function viewOf(
  step: PlacedNode,
  graphWidth: number,
  pane: { readonly width: number; readonly height: number },
  currentZoom: number,
): Viewport {
  const room = pane.width - 2 * margin;
  const zoom = Math.max(currentZoom, legible, Math.min(usual, room / graphWidth));
  const start = Math.max(margin, (pane.width - graphWidth * zoom) / 2);
  const end = pane.width - margin - Math.min((step.x + step.width) * zoom, step.x * zoom + room);
  const middle = step.y + Math.min(step.height, pane.height / legible) / 2;
  return { x: Math.min(start, end), y: pane.height / 2 - middle * zoom, zoom };
}
