// The positions of the steps of a workflow. A workflow is a tree of sequences and containers, so the layout is nested
// boxes without crossing edges; two hundred steps take a millisecond.
import type { Step } from "@andante/client";

export interface PlacedNode {
  /** The step's path in the definition: `check/facts`. */
  readonly path: string;
  readonly step: Step;
  /** The path of its container; null at the top level. */
  readonly parent: string | null;
  /** Its position inside its parent. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Rendered as a box with steps; a folded container is rendered as a step. */
  readonly isContainer: boolean;
}

export interface PlacedEdge {
  readonly from: string;
  readonly to: string;
}

export interface Layout {
  /** Parents before their children. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
}

const leaf = { width: 200, height: 46 };
const inner = { width: 148, height: 46 };
const gap = 26;
const beside = 14;
const padding = 14;
const head = 26;
/** Maximum branches per row. */
const perRow = 3;
/** A container with more steps than this is folded until the user opens it. */
const foldAbove = 12;

const sequences = new Set(["andWorkflow", "andForEach", "andDoWhile", "andDoUntil"]);

/** The containers that the user has opened, and the edges so far. */
interface Canvas {
  readonly open: ReadonlySet<string>;
  readonly edges: PlacedEdge[];
}

interface Box {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
}

export function layOut(steps: readonly Step[], open: ReadonlySet<string> = new Set()): Layout {
  const edges: PlacedEdge[] = [];
  const { nodes, width } = column(steps, null, { open, edges });
  return { nodes, edges, width };
}

/** Whether a container is rendered as a single step. */
export function isFolded(step: Step, path: string, open: ReadonlySet<string>): boolean {
  return countOf(step.steps ?? []) > foldAbove && !open.has(path);
}

function countOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + 1 + countOf(step.steps ?? []), 0);
}

function pathIn(parent: string | null, { id }: Step): string {
  return parent === null ? id : `${parent}/${id}`;
}

function boxOf(step: Step, parent: string | null, canvas: Canvas): Box {
  const path = pathIn(parent, step);
  const steps = step.steps ?? [];
  if (steps.length === 0 || isFolded(step, path, canvas.open)) {
    const size = parent === null ? leaf : inner;
    return { ...size, nodes: [{ path, step, parent, x: 0, y: 0, ...size, isContainer: false }] };
  }
  const place = sequences.has(step.type) ? column : rows;
  const content = place(steps, path, canvas);
  const width = Math.max(leaf.width, content.width + 2 * padding);
  const height = content.height + head + padding;
  const shift = (width - content.width) / 2;
  const inside = content.nodes.map((node) => moved(node, path, shift, head));
  const self = { path, step, parent, x: 0, y: 0, width, height, isContainer: true };
  return { width, height, nodes: [self, ...inside] };
}

/** Moves only direct children of `parent`; deeper nodes move with their own parent. */
function moved(node: PlacedNode, parent: string | null, x: number, y: number): PlacedNode {
  return node.parent === parent ? { ...node, x: node.x + x, y: node.y + y } : node;
}

/** Places steps below each other, with an edge between neighbours. */
function column(steps: readonly Step[], parent: string | null, canvas: Canvas): Box {
  const boxes = steps.map((step) => boxOf(step, parent, canvas));
  const width = Math.max(...boxes.map((box) => box.width), 0);
  const nodes: PlacedNode[] = [];
  let y = 0;
  boxes.forEach((box, index) => {
    nodes.push(...box.nodes.map((node) => moved(node, parent, (width - box.width) / 2, y)));
    y += box.height + gap;
    const [step, next] = [steps[index], steps[index + 1]];
    if (step !== undefined && next !== undefined) canvas.edges.push(...connect(step, next, parent, canvas));
  });
  return { width, height: Math.max(0, y - gap), nodes };
}

/** Places steps side by side, a few per row. */
function rows(steps: readonly Step[], parent: string | null, canvas: Canvas): Box {
  const boxes = steps.map((step) => boxOf(step, parent, canvas));
  const lines: Box[][] = [];
  for (let first = 0; first < boxes.length; first += perRow) lines.push(boxes.slice(first, first + perRow));
  const widthOf = (line: readonly Box[]) => line.reduce((sum, box) => sum + box.width + beside, -beside);
  const width = Math.max(...lines.map(widthOf));
  const nodes: PlacedNode[] = [];
  let y = 0;
  for (const line of lines) {
    let x = (width - widthOf(line)) / 2;
    for (const box of line) {
      nodes.push(...box.nodes.map((node) => moved(node, parent, x, y)));
      x += box.width + beside;
    }
    y += Math.max(...line.map((box) => box.height)) + beside;
  }
  return { width, height: y - beside, nodes };
}

function connect(from: Step, to: Step, parent: string | null, { open }: Canvas): PlacedEdge[] {
  const starts = ends(from, parent, open);
  const targets = ends(to, parent, open);
  return starts.flatMap((start) => targets.map((target) => ({ from: start, to: target })));
}

/** The end nodes of an edge into or out of a step: each branch has its own edge while all fit into one row. */
function ends(step: Step, parent: string | null, open: ReadonlySet<string>): string[] {
  const path = pathIn(parent, step);
  const steps = step.steps ?? [];
  if (steps.length === 0 || isFolded(step, path, open)) return [path];
  if (sequences.has(step.type) || steps.length > perRow) return [path];
  return steps.flatMap((child) => ends(child, path, open));
}

/** The nodes with their positions on the canvas, by path. */
export function placesOf({ nodes }: Pick<Layout, "nodes">): ReadonlyMap<string, PlacedNode> {
  const places = new Map<string, PlacedNode>();
  for (const node of nodes) {
    const parent = node.parent === null ? undefined : places.get(node.parent);
    places.set(node.path, { ...node, x: node.x + (parent?.x ?? 0), y: node.y + (parent?.y ?? 0) });
  }
  return places;
}

/** The edges as two SVG paths: from steps that `isDone`, and from all others. */
export function linesOf(layout: Layout, isDone: (path: string) => boolean): readonly [string, string] {
  const places = placesOf(layout);
  const lines: [string, string] = ["", ""];
  for (const edge of layout.edges) {
    const [from, to] = [places.get(edge.from), places.get(edge.to)];
    if (from === undefined || to === undefined) continue;
    const [x, y, endX] = [from.x + from.width / 2, from.y + from.height, to.x + to.width / 2];
    const bend = (y + to.y) / 2;
    lines[isDone(edge.from) ? 0 : 1] += `M${x} ${y}C${x} ${bend} ${endX} ${bend} ${endX} ${to.y}`;
  }
  return lines;
}
