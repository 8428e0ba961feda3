// The graph, loaded on first use or by `expectGraph`.
import { Suspense } from "react";
import { lazyPart } from "../components/late-code.tsx";
import type { StepGraphProps } from "./step-graph.tsx";

const load = () => import("./step-graph.tsx");
const Graph = lazyPart(load);

/** Starts loading the graph in parallel to its data. */
export function expectGraph(): void {
  load().catch(() => undefined);
}

export function LazyGraph(props: StepGraphProps) {
  return (
    <Suspense fallback={null}>
      <Graph {...props} />
    </Suspense>
  );
}
