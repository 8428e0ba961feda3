// Building a definition: the time for a step does not grow with their number.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Workflow } from "../../packages/core/src/workflow/workflow.ts";
import type { Budget } from "../results.ts";

const counts = [1000, 4000];
const rounds = 15;

function build(count: number): number {
  const start = performance.now();
  let chain: Workflow = createWorkflow({ id: "long", input: z.unknown() });
  for (let index = 0; index < count; index++)
    chain = chain.andThen({ id: `step-${index}`, execute: () => index });
  return performance.now() - start;
}

export function definitions(): Budget {
  build(2000);
  // The shortest: other work only ever adds to it.
  const each = counts.map((count) => Math.min(...Array.from({ length: rounds }, () => build(count))) / count);
  const [few = Number.NaN, many = Number.NaN] = each;
  return {
    name: `a definition of ${counts[1]} steps, time per step against ${counts[0]}`,
    value: `${(many / few).toFixed(2)} ×`,
    budget: "at most 2 ×",
    held: many / few <= 2,
    note: `${(many * 1000).toFixed(1)} against ${(few * 1000).toFixed(1)} µs`,
  };
}
