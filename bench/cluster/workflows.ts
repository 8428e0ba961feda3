// The workflows of this benchmark's nodes: three steps, and a wait for a person.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

const shape = z.object({ n: z.number() });

export const three = createWorkflow({ id: "three", input: shape, result: shape })
  .andThen({ id: "a", execute: ({ data }) => ({ n: data.n + 1 }) })
  .andThen({ id: "b", execute: ({ data }) => ({ n: data.n + 1 }) })
  .andThen({ id: "c", execute: ({ data }) => ({ n: data.n + 1 }) });

export const gate = createWorkflow({ id: "gate", input: shape, result: shape }).andThen({
  id: "wait",
  resumeSchema: z.object({ ok: z.boolean() }),
  execute: ({ data, resumeData, suspend }) => (resumeData ? data : suspend("a person")),
});

/** Its body never ends on the node that begins it, so that another one has to. */
export const held = createWorkflow({ id: "held", input: shape, result: shape }).andThen({
  id: "hold",
  execute: ({ data }) => (process.env.BENCH_HOLD === "begin" ? new Promise<never>(() => undefined) : data),
});

/** Waits for a person again and again. */
export const loop = createWorkflow({ id: "loop", input: shape }).andDoWhile({
  id: "again",
  condition: () => true,
  step: (chain) =>
    chain.andThen({
      id: "ask",
      execute: ({ data, suspend, resumeData }) =>
        resumeData === undefined ? suspend("a person") : { n: data.n + 1 },
    }),
});

export const items = createWorkflow({ id: "items", input: shape }).andForEach({
  id: "each",
  concurrency: 20,
  items: ({ data }) => Array.from({ length: data.n }, (_, index) => index),
  step: (item) => item.andThen({ id: "add", execute: ({ data }) => data + 1 }),
});

/** Its output has as many characters. */
export const large = createWorkflow({ id: "large", input: shape }).andThen({
  id: "make",
  execute: ({ data }) => "x".repeat(data.n),
});
