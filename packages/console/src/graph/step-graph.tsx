// The workflow as a graph: each step with its state, one of them selected.
//
// The layout is computed in advance, so the library measures nothing, and all edges are two paths instead of one
// element with subscriptions each; an unchanged step keeps its object and is not rendered again.
import type { Step } from "@andante/client";
import {
  Background,
  BackgroundVariant,
  Controls,
  type FitViewOptions,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
  ViewportPortal,
} from "@xyflow/react";
import { memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { plural } from "../format/numbers.ts";
import { stepStatusLabel, toneOf } from "../format/status.ts";
import { isFolded, type Layout, layOut, linesOf, type PlacedNode, placesOf } from "./layout.ts";
import { legible, margin, viewOf } from "./view.ts";
import "@xyflow/react/dist/base.css";
import "./graph.css";

/** The status and text of a step in the graph. */
export interface StepView {
  /** Undefined for a step that has not started. */
  readonly status: string | undefined;
  readonly words: string;
}

/** A graph of more steps has a map. */
const fewSteps = 12;

/** The buttons are below the steps, not on them. */
const fitViewOptions: FitViewOptions<StepNodeType> = {
  padding: { top: "12px", x: `${margin}px`, bottom: "48px" },
  maxZoom: 1,
};
/** The same object in every rendering: for another one the library renders everything again. */
const proOptions = { hideAttribution: true };

interface StepData extends Record<string, unknown> {
  readonly step: Step;
  readonly status: string | undefined;
  readonly words: string;
  readonly selected: boolean;
  readonly folded: boolean;
  readonly onSelect: (path: string, folded: boolean) => void;
}

type StepNodeType = Node<StepData>;

export interface StepGraphProps {
  readonly steps: readonly Step[];
  /** The look of a step by its path in the definition. The same function object means an unchanged graph. */
  readonly lookOf: (path: string, step: Step) => StepView;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
}

export default memo(function StepGraph({ steps, lookOf, selected, onSelect }: StepGraphProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const layout = useMemo(() => layOut(steps, open), [steps, open]);
  const latest = useRef(onSelect);
  latest.current = onSelect;
  const choose = useCallback((path: string, folded: boolean) => {
    if (folded) setOpen((before) => new Set([...before, path]));
    latest.current(path);
  }, []);
  const drawn = useRef<ReadonlyMap<string, StepNodeType>>(new Map());
  const nodes = useMemo(() => {
    const next = layout.nodes.map((placed) => {
      const { path, step } = placed;
      const folded = isFolded(step, path, open);
      const look = lookOf(path, step);
      const data: StepData = { step, ...look, selected: path === selected, folded, onSelect: choose };
      const before = drawn.current.get(path);
      return before !== undefined && isSame(before, placed, data) ? before : nodeOf(placed, data);
    });
    drawn.current = new Map(next.map((node) => [node.id, node]));
    return next;
  }, [layout, open, lookOf, selected, choose]);
  const [flow, setFlow] = useState<ReactFlowInstance<StepNodeType>>();
  // Not the library's option for it, which may fit the steps once more later, when the selected step is in sight.
  const fit = useCallback(async (ready: ReactFlowInstance<StepNodeType>) => {
    await ready.fitView(fitViewOptions);
    setFlow(ready);
  }, []);
  const box = useRef<HTMLDivElement>(null);
  const places = useMemo(() => placesOf(layout), [layout]);
  const place = selected === undefined ? undefined : places.get(selected);
  useEffect(() => {
    if (flow !== undefined && place !== undefined) bringIntoView(flow, place, layout.width, box.current);
  }, [flow, place, layout.width]);
  const done = nodes.flatMap(({ id, data }) => (isDone(data.status) ? [id] : [])).join("\n");
  return (
    <ReactFlow
      ref={box}
      key={steps.length}
      nodes={nodes}
      nodeTypes={nodeTypes}
      onInit={fit}
      minZoom={0.1}
      maxZoom={1.5}
      nodesConnectable={false}
      nodesDraggable={false}
      nodesFocusable={false}
      elementsSelectable={false}
      proOptions={proOptions}
      aria-label="Steps"
    >
      <Background variant={BackgroundVariant.Dots} gap={20} size={1} color="var(--line2)" />
      <ViewportPortal>
        <Lines layout={layout} done={done} />
      </ViewportPortal>
      <Controls fitViewOptions={fitViewOptions} showInteractive={false} orientation="horizontal" />
      {nodes.length > fewSteps && (
        <MiniMap
          pannable
          zoomable
          ariaLabel="Map of the steps"
          nodeColor={colourOf}
          nodeStrokeColor={colourOf}
          // In units of the canvas: two hundred steps in a row would be thinner than a pixel.
          nodeStrokeWidth={nodes.length}
          maskColor="transparent"
          maskStrokeColor="var(--ink2)"
          // In pixels of the map, unlike the strokes of its nodes.
          maskStrokeWidth={1.5}
        />
      )}
    </ReactFlow>
  );
});

/** Moves the canvas where the step cannot be seen, or cannot be read. */
function bringIntoView(
  flow: ReactFlowInstance<StepNodeType>,
  step: PlacedNode,
  graphWidth: number,
  box: HTMLElement | null,
): void {
  const { x: left, y: top, zoom } = flow.getViewport();
  const { width: wide = 0, height: high = 0 } = box?.getBoundingClientRect() ?? {};
  const { x, y, width, height } = step;
  const isInside =
    x * zoom + left >= 0 &&
    y * zoom + top >= 0 &&
    (x + width) * zoom + left <= wide &&
    (y + height) * zoom + top <= high;
  if (isInside && zoom >= legible) return;
  void flow.setViewport(viewOf(step, graphWidth, { width: wide, height: high }, zoom), {
    duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 150,
  });
}

/** The colour of a step on the map. */
function colourOf({ data }: StepNodeType): string {
  if (data.status === undefined) return "var(--line2)";
  return mapColours[toneOf(data.status)];
}

const mapColours = {
  run: "var(--run)",
  wait: "var(--wait-mark)",
  ok: "var(--ok-mark)",
  bad: "var(--bad)",
  off: "var(--ink3)",
  agent: "var(--agent)",
} as const;

function nodeOf(placed: PlacedNode, data: StepData): StepNodeType {
  const { path, parent, x, y, width, height, isContainer } = placed;
  return {
    id: path,
    type: isContainer ? "container" : "step",
    position: { x, y },
    ...(parent !== null && { parentId: parent }),
    width,
    height,
    measured: { width, height },
    // Without a handle the library treats a node as not measured yet.
    handles: [{ type: "target", position: Position.Top, x: width / 2, y: 0 }],
    data,
  };
}

/** Whether a node of the last rendering can be reused. */
function isSame(before: StepNodeType, placed: PlacedNode, data: StepData): boolean {
  const { position, width, height, parentId, type } = before;
  const { step, status, words, selected, folded } = before.data;
  const stands =
    position.x === placed.x && position.y === placed.y && parentId === (placed.parent ?? undefined);
  const sized = width === placed.width && height === placed.height;
  const looks = status === data.status && words === data.words && selected === data.selected;
  const kind = type === (placed.isContainer ? "container" : "step") && folded === data.folded;
  return stands && sized && looks && kind && step === data.step;
}

function isDone(status: string | undefined): boolean {
  return status === "completed" || status === "skipped";
}

function StepNode({ id, data }: NodeProps<StepNodeType>) {
  const { step, status, words, selected, folded, onSelect } = data;
  const agent = step.type === "andAgent";
  return (
    <button
      type="button"
      className="step-node"
      data-status={status ?? "ahead"}
      data-selected={selected}
      aria-pressed={selected}
      onClick={() => onSelect(id, folded)}
    >
      <i
        className="dot"
        {...(status !== undefined && {
          "data-tone": agent && status === "completed" ? "agent" : toneOf(status),
        })}
      />
      <span className="grow">
        <b className="cut" dir="auto">
          {step.name}
        </b>
        <small className="cut">{folded ? foldedWords(step, status) : words}</small>
      </span>
    </button>
  );
}

function foldedWords({ steps = [] }: Step, status: string | undefined): string {
  const inside = `${plural(steps.length, "step")} inside`;
  return status === undefined ? inside : `${stepStatusLabel(status)} · ${inside}`;
}

function ContainerNode({ id, data }: NodeProps<StepNodeType>) {
  const { step, status, selected, folded, onSelect } = data;
  return (
    <div className="container-node" data-selected={selected} data-status={status ?? "ahead"}>
      <button
        type="button"
        className="text-button"
        aria-pressed={selected}
        onClick={() => onSelect(id, folded)}
      >
        {step.type} · {step.name}
        {status !== undefined && ` · ${stepStatusLabel(status)}`}
      </button>
    </div>
  );
}

/** The edges: those from finished steps, and the others. */
const Lines = memo(function Lines({
  layout,
  done,
}: {
  readonly layout: Layout;
  /** The paths of finished steps, one per line. */
  readonly done: string;
}) {
  const ended = new Set(done.split("\n"));
  const [passed, ahead] = linesOf(layout, (path) => ended.has(path));
  return (
    <svg className="edges" aria-hidden="true">
      <path className="ahead" d={ahead} />
      <path className="passed" d={passed} />
    </svg>
  );
});

const nodeTypes = { step: memo(StepNode), container: memo(ContainerNode) };
