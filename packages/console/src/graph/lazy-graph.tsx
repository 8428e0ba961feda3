// The graph, loaded when one is first shown.
import { lazy, Suspense } from "react";
import type { StepGraphProps } from "./step-graph.tsx";

const Graph = lazy(() => import("./step-graph.tsx"));

export function LazyGraph(props: StepGraphProps) {
  return (
    <Suspense fallback={null}>
      <Graph {...props} />
    </Suspense>
  );
}
