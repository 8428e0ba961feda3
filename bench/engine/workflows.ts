// The workflows that the benchmarks run.
import { andSleep, createWorkflow } from "@andante/core";
import { z } from "zod";

const input = z.object({ n: z.number() });

/** One trivial step. */
const oneStep = (options: { readonly search?: false } = {}) =>
  createWorkflow({ id: "one", input, ...options }).andThen({
    id: "one",
    execute: ({ data }) => ({ n: data.n + 1 }),
  });

/** Three trivial steps in a row. */
const threeSteps = (options: { readonly search?: false } = {}) =>
  createWorkflow({ id: "three", input, ...options })
    .andThen({ id: "one", execute: ({ data }) => data.n + 1 })
    .andThen({ id: "two", execute: ({ data }) => data + 1 })
    .andThen({ id: "three", execute: ({ data }) => data + 1 });

export const one = oneStep();
export const three = threeSteps();
/** The same, whose values are not searched. */
export const unsearched = { one: oneStep({ search: false }), three: threeSteps({ search: false }) };

/** One step that waits for an answer. */
export const gate = createWorkflow({ id: "gate", input }).andThen({
  id: "wait",
  execute: ({ data, suspend, resumeData }) =>
    resumeData === undefined ? suspend("waiting") : { ...data, resumeData },
});

/** Trivial bodies, twenty items at a time, then a wait: the journal stays as it is until the resume. */
export const list = createWorkflow({ id: "list", input })
  .andForEach({
    id: "each",
    concurrency: 20,
    items: ({ data }) => Array.from({ length: data.n }, (_, index) => index),
    step: (item) => item.andThen({ id: "add", execute: ({ data }) => data + 1 }),
  })
  .andThen({ id: "count", execute: ({ data }) => ({ n: data.length }) })
  .andThen({
    id: "wait",
    execute: ({ data, suspend, resumeData }) => (resumeData === undefined ? suspend("waiting") : data),
  });

/** All items asleep at once. */
export const naps = createWorkflow({ id: "naps", input }).andForEach({
  id: "each",
  concurrency: 1_000_000,
  items: ({ data }) => Array.from({ length: data.n }, (_, index) => index),
  step: andSleep({ id: "nap", duration: 500 }),
});

/** Sleeps until a moment, in milliseconds since 1970, and tells how late it woke. */
export const sleeper = createWorkflow({ id: "sleeper", input: z.object({ at: z.number() }) })
  .andSleepUntil({ id: "sleep", date: ({ data }) => new Date(data.at) })
  .andThen({ id: "woken", execute: ({ data }) => Date.now() - data.at });
