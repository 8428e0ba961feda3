// A body that always ends its process. Not part of the campaign: the crash-loop proof uses it.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 2 },
  workflow: createWorkflow({ id: "crash-loop", input: z.object({ amount: z.number() }) })
    .andThen({ id: "before", execute: bodies.quick(({ data }) => data) })
    // Long enough for its neighbours in the same file to come to rest first.
    .andThen({ id: "deadly", execute: bodies.deadly(150) }),
});
