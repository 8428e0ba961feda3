// The graph, loaded on first use or by `expectGraph`.
import { lazy, Suspense } from "react";
import type { StepGraphProps } from "./step-graph.tsx";

const load = () => import("./step-graph.tsx");
const Graph = lazy(load);

/** Starts loading the graph in parallel to its data. */
export function expectGraph(): void {
  void load();
}

export function LazyGraph(props: StepGraphProps) {
  return (
    <Suspense fallback={null}>
      <Graph {...props} />
    </Suspense>
  );
}
