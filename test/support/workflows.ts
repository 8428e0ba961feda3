// The sample workflows that tests over HTTP run.
import { andThen, createWorkflow, PublicError, type StepContext } from "@andante/core";
import type { WorkflowAgent, WorkflowDefinition } from "@andante/core/internal";
import { z } from "zod";
import { gates } from "./gates.ts";

/** Runs straight through. */
export const sum = createWorkflow({
  id: "sum",
  name: "Add up",
  purpose: "Adds two numbers and says so",
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  result: z.object({ total: z.number() }),
})
  .andThen({ id: "add", execute: ({ data }) => data.a + data.b })
  .andThen({ id: "wrap", execute: ({ data }) => ({ total: data }) });

/** Waits for a person at its second step. */
export const approval = createWorkflow({
  id: "approval",
  input: z.object({ topic: z.string() }),
})
  .andThen({ id: "draft", execute: ({ data }) => ({ text: `About ${data.topic}` }) })
  .andThen({
    id: "approve",
    suspendSchema: z.object({ text: z.string() }),
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ data, suspend, resumeData }) =>
      resumeData ? { ...data, approved: resumeData.approved } : suspend("Waiting for approval", data),
  })
  .andThen({ id: "publish", execute: ({ data }) => ({ ...data, published: data.approved }) });

/** Waits twice, without a reason and without schemas. */
export const twice = createWorkflow({ id: "twice", input: z.object({}) })
  .andThen({
    id: "first",
    execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend() : { first: resumeData }),
  })
  .andThen({
    id: "second",
    execute: ({ data, suspend, resumeData }) =>
      resumeData === undefined ? suspend("again") : { ...data, second: resumeData },
  });

/** Two branches that wait at once; the workflow's own schema is for both. */
export const both = createWorkflow({
  id: "both",
  input: z.object({}),
  suspendSchema: z.object({ question: z.string() }),
  resumeSchema: z.object({ answer: z.number() }),
}).andAll({
  id: "fork",
  steps: [
    andThen({
      id: "left",
      execute: (context: StepContext) => context.resumeData ?? context.suspend("left?"),
    }),
    andThen({
      id: "right",
      execute: (context: StepContext) => context.resumeData ?? context.suspend("right?"),
    }),
  ],
});

/** Its second body waits at the door that the input names. */
export const gated = createWorkflow({ id: "gated", input: z.object({ door: z.string() }) })
  .andThen({ id: "before", execute: ({ data }) => data })
  .andThen({
    id: "wait",
    execute: async ({ data }) => {
      await gates.pass(data.door);
      return { passed: data.door };
    },
  })
  .andThen({ id: "after", execute: ({ data }) => data });

/** Waits at a door, and after that for a resume. */
export const gatedApproval = createWorkflow({ id: "gated-approval", input: z.object({ door: z.string() }) })
  .andThen({
    id: "ask",
    execute: ({ data, suspend, resumeData }) => (resumeData === undefined ? suspend("go on?") : data),
  })
  .andThen({
    id: "wait",
    execute: async ({ data }) => {
      await gates.pass(data.door);
      return { passed: data.door };
    },
  });

export const failing = createWorkflow({ id: "failing", input: z.object({}) })
  .andThen({ id: "fine", execute: () => 1 })
  .andThen({
    id: "broken",
    execute: () => {
      throw new RangeError("password hunter2 is wrong");
    },
  });

/** Fails in words that are meant for the caller, after a resume. */
export const failingLater = createWorkflow({ id: "failing-later", input: z.object({}) }).andThen({
  id: "broken",
  execute: ({ suspend, resumeData }) => {
    if (resumeData === undefined) return suspend("soon to fail");
    throw new PublicError("The printer is out of paper");
  },
});

/** The caller's options as the steps see them. */
export const mirror = createWorkflow({ id: "mirror", input: z.unknown() }).andThen({
  id: "look",
  execute: ({ data, userId, conversationId, context, executionId }) => ({
    data,
    userId,
    conversationId,
    executionId,
    context: Object.fromEntries(context),
  }),
});

/** Its last step gives nothing. */
export const nothing = createWorkflow({ id: "nothing", input: z.object({}) }).andThen({
  id: "quiet",
  execute: () => undefined,
});

const parrot: WorkflowAgent = { generate: async ({ prompt }) => ({ text: prompt }) };

const child = createWorkflow({ id: "child", input: z.unknown() }).andThen({
  id: "inner",
  execute: () => "child",
});

/** Every step type of the contract, with every schema somewhere. */
export const everything = createWorkflow({
  id: "everything",
  name: "Everything",
  purpose: "Shows each step type",
  input: z.object({ text: z.string().min(1).describe("Any text"), times: z.int().default(2) }),
  suspendSchema: z.object({ why: z.string() }),
  resumeSchema: z.object({ go: z.boolean() }),
})
  .andThen({
    id: "then",
    name: "First then",
    purpose: "Goes first",
    inputSchema: z.object({ text: z.string(), times: z.number() }),
    outputSchema: z.object({ text: z.string() }),
    execute: ({ data }) => ({ text: data.text.repeat(data.times) }),
  })
  .andWhen({
    id: "when",
    condition: ({ data }) => data.text.length > 3,
    step: andThen({ id: "shorten", execute: () => ({ text: "long" }) }),
  })
  .andTap({ id: "tap", execute: () => "ignored" })
  .andAll({
    id: "all",
    steps: [andThen({ id: "one", execute: () => 1 }), andThen({ id: "two", execute: () => 2 })],
  })
  .andRace({
    id: "race",
    steps: [
      andThen({ id: "fast", execute: () => "fast" }),
      andThen({
        id: "slow",
        execute: ({ signal }) => new Promise<string>((_, reject) => signal.addEventListener("abort", reject)),
      }),
    ],
  })
  .andAgent({ id: "agent", agent: parrot, prompt: ({ data }) => `Say ${data}` })
  .andWorkflow({ id: "workflow", workflow: child })
  .andThen({
    id: "gate",
    suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ data, resumeData, suspend }) =>
      resumeData ? data : suspend("May I?", { question: "May I?" }),
  });

/** Its id needs encoding in a path. */
export const foreign = createWorkflow({ id: "résumé 50% & more?", input: z.object({}) }).andThen({
  id: "only",
  execute: () => "ok",
});

export const workflows: Readonly<Record<string, WorkflowDefinition>> = {
  sum,
  approval,
  twice,
  both,
  gated,
  gatedApproval,
  failing,
  failingLater,
  mirror,
  nothing,
  everything,
  foreign,
};
