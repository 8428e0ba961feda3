// The graph, loaded when one is first shown, or as soon as it is clear that one will be.
import { lazy, Suspense } from "react";
import type { StepGraphProps } from "./step-graph.tsx";

const load = () => import("./step-graph.tsx");
const Graph = lazy(load);

/** Loads it beside the data that it will show. */
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
