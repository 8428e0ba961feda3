// A chain of fifty steps keeps its types: TypeScript has a limit on how deep types nest, and a long chain must not meet it.
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { InferResult, InferResume, InferStepId } from "./chain-types.ts";
import { createWorkflow } from "./create-workflow.ts";
import { andAll, andThen } from "./steps/free-steps.ts";

const long = createWorkflow({ id: "long", input: z.object({ n: z.number() }) })
  .andThen({ id: "s1", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s2", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s3", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s4", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s5", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s6", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s7", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s8", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s9", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andAll({
    id: "s10",
    steps: [andAll({ id: "inner", steps: [andThen({ id: "a", execute: ({ data }) => data.n + 1 })] })],
  })
  .andThen({
    id: "n10",
    resumeSchema: z.object({ s10: z.string() }),
    execute: ({ data: [[n]], input }) => ({ n, first: input.n, s10: "" }),
  })
  .andThen({ id: "s11", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s12", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s13", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s14", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s15", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s16", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s17", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s18", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s19", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andAll({
    id: "s20",
    steps: [andAll({ id: "inner", steps: [andThen({ id: "a", execute: ({ data }) => data.n + 1 })] })],
  })
  .andThen({
    id: "n20",
    resumeSchema: z.object({ s20: z.string() }),
    execute: ({ data: [[n]], input }) => ({ n, first: input.n, s20: "" }),
  })
  .andThen({ id: "s21", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s22", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s23", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s24", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s25", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s26", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s27", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s28", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s29", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andAll({
    id: "s30",
    steps: [andAll({ id: "inner", steps: [andThen({ id: "a", execute: ({ data }) => data.n + 1 })] })],
  })
  .andThen({
    id: "n30",
    resumeSchema: z.object({ s30: z.string() }),
    execute: ({ data: [[n]], input }) => ({ n, first: input.n, s30: "" }),
  })
  .andThen({ id: "s31", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s32", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s33", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s34", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s35", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s36", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s37", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s38", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s39", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andAll({
    id: "s40",
    steps: [andAll({ id: "inner", steps: [andThen({ id: "a", execute: ({ data }) => data.n + 1 })] })],
  })
  .andThen({
    id: "n40",
    resumeSchema: z.object({ s40: z.string() }),
    execute: ({ data: [[n]], input }) => ({ n, first: input.n, s40: "" }),
  })
  .andThen({ id: "s41", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s42", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s43", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s44", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s45", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s46", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s47", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s48", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "s49", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andAll({
    id: "s50",
    steps: [andAll({ id: "inner", steps: [andThen({ id: "a", execute: ({ data }) => data.n + 1 })] })],
  })
  .andThen({
    id: "n50",
    resumeSchema: z.object({ s50: z.string() }),
    execute: ({ data: [[n]], input }) => ({ n, first: input.n, s50: "" }),
  });

test("the last step, the resume data and the ids of all steps are known", () => {
  expectTypeOf<InferResult<typeof long>>().toEqualTypeOf<{ n: number; first: number; s50: string }>();
  expectTypeOf<InferResume<typeof long>>().toEqualTypeOf<
    { s10: string } | { s20: string } | { s30: string } | { s40: string } | { s50: string }
  >();
  expectTypeOf<"s1" | "s25" | "s50" | "n50">().toExtend<InferStepId<typeof long>>();
  expectTypeOf<"s51">().not.toExtend<InferStepId<typeof long>>();
});
