// The workflow as a graph: each step with its state, one of them selected.
import {
  Background,
  BackgroundVariant,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import { useMemo, useState } from "react";
import type { Step } from "../api/types.ts";
import { toneOf } from "../words/status.ts";
import { isFolded, layOut } from "./layout.ts";
import "@xyflow/react/dist/base.css";
import "./graph.css";

/** What the graph shows of a step beside its name. */
export interface StepLook {
  /** Undefined for a step that has not begun. */
  readonly status: string | undefined;
  readonly words: string;
}

interface StepData extends Record<string, unknown> {
  readonly step: Step;
  readonly look: StepLook;
  readonly selected: boolean;
  readonly folded: boolean;
  readonly onSelect: () => void;
}

export interface StepGraphProps {
  readonly steps: readonly Step[];
  /** How a step looks, by its path in the definition. */
  readonly lookOf: (path: string, step: Step) => StepLook;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
}

export default function StepGraph({ steps, lookOf, selected, onSelect }: StepGraphProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const layout = useMemo(() => layOut(steps, open), [steps, open]);
  const nodes = layout.nodes.map((placed): Node<StepData> => {
    const { path, step, parent, x, y, width, height, isContainer } = placed;
    const folded = isFolded(step, path, open);
    const select = () => {
      if (folded) setOpen(new Set([...open, path]));
      onSelect(path);
    };
    const look = lookOf(path, step);
    return {
      id: path,
      type: isContainer ? "container" : "step",
      position: { x, y },
      ...(parent !== null && { parentId: parent }),
      width,
      height,
      draggable: false,
      selectable: false,
      focusable: false,
      data: { step, look, selected: path === selected, folded, onSelect: select },
    };
  });
  const edges = layout.edges.map(
    ({ from, to }): Edge => ({
      id: `${from}>${to}`,
      source: from,
      target: to,
      focusable: false,
      className: edgeLook(nodes.find(({ id }) => id === from)?.data.look.status),
    }),
  );
  return (
    <ReactFlow
      key={steps.length}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      fitView
      fitViewOptions={{ padding: 0.08, maxZoom: 1 }}
      minZoom={0.1}
      maxZoom={1.5}
      nodesConnectable={false}
      nodesDraggable={false}
      proOptions={{ hideAttribution: true }}
      aria-label="Steps"
    >
      <Background variant={BackgroundVariant.Dots} gap={20} size={1} color="var(--line2)" />
    </ReactFlow>
  );
}

function edgeLook(status: string | undefined): string {
  return status === "completed" || status === "skipped" ? "edge-done" : "edge-open";
}

function StepNode({ data }: NodeProps<Node<StepData>>) {
  const { step, look, selected, folded, onSelect } = data;
  const agent = step.type === "andAgent";
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <button
        type="button"
        className="step-node"
        data-status={look.status ?? "ahead"}
        data-selected={selected}
        aria-pressed={selected}
        onClick={onSelect}
      >
        <i
          className="dot"
          {...(look.status !== undefined && {
            "data-tone": agent && look.status === "completed" ? "agent" : toneOf(look.status),
          })}
        />
        <span className="grow">
          <b className="cut">{step.name}</b>
          <small className="cut">{folded ? `${step.steps?.length} steps inside` : look.words}</small>
        </span>
      </button>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
}

function ContainerNode({ data }: NodeProps<Node<StepData>>) {
  const { step, look, selected, onSelect } = data;
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <div className="container-node" data-selected={selected} data-status={look.status ?? "ahead"}>
        <button type="button" className="text-button" aria-pressed={selected} onClick={onSelect}>
          {step.type} · {step.name}
        </button>
      </div>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
}

const nodeTypes = { step: StepNode, container: ContainerNode };
