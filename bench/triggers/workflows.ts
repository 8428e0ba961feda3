// The workflow that schedules of the benchmark start: one short step.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

/** `schedules`: in code. Default: none. */
export function tick(schedules: Readonly<Record<string, { readonly every: "1s" | "1h" }>> = {}) {
  const given = Object.entries(schedules).map(([name, timing]): [string, object] => [
    name,
    { ...timing, overlap: "allow", input: {} },
  ]);
  return createWorkflow({
    ...{ id: "tick", input: z.object({}), search: false as const },
    schedules: Object.fromEntries(given),
  }).andThen({ id: "run", execute: () => null });
}
