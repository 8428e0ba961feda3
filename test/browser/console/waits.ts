// Workflows that wait in every way, for the tests of the page of an execution.
import { Agent, andThen, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { tool } from "ai";
import { z } from "zod";

const cashier = new Agent({
  id: "cashier",
  instructions: "Pay back.",
  model: scriptedModel(
    Array.from({ length: 20 }, (_, turn) =>
      turn % 2 === 0
        ? { text: "", toolCalls: [{ toolName: "payBack", input: { order: "ord_8813", amount: 90 } }] }
        : "Paid.",
    ),
  ),
  tools: {
    payBack: tool({
      description: "Pays money back",
      inputSchema: z.object({ order: z.string(), amount: z.number() }),
      needsApproval: true,
      execute: ({ amount }) => ({ paid: amount }),
    }),
  },
});

const complaint = createWorkflow({
  id: "complaint",
  name: "Handle a complaint",
  input: z.object({ text: z.string() }),
})
  .andThen({
    id: "read",
    execute: async ({ data, checkpoint }) => {
      await checkpoint("spam", () => ({ spam: false, score: 0.02 }));
      return data;
    },
  })
  .andAgent({ id: "settle", agent: cashier, prompt: ({ data }) => data.text })
  .andThen({ id: "close", execute: ({ data }) => data });

const never = ({ signal }: { readonly signal: AbortSignal }) =>
  new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const parcel = createWorkflow({ id: "parcel", name: "Send a parcel", input: z.object({}) })
  .andRace({
    id: "carriers",
    steps: [andThen({ id: "dhl", execute: never }), andThen({ id: "post", execute: () => "post" })],
  })
  .andAll({
    id: "signatures",
    steps: [
      andThen({ id: "label", execute: ({ data }) => data }),
      andThen({
        id: "legal",
        resumeSchema: z.object({ signed: z.boolean() }),
        execute: ({ resumeData, suspend }) => resumeData ?? suspend("Sign the customs form"),
      }),
    ],
  });

const nap = createWorkflow({ id: "nap", name: "Sleep on it", input: z.object({}) })
  .andThen({ id: "think", execute: ({ data }) => data })
  .andSleep({ id: "night", duration: "3d" });

/** The text of an error of many lines. */
export const longError = Array.from(
  { length: 30 },
  (_, line) => `line ${line} of the answer of the bank`,
).join("\n");

const invoiceRun = createWorkflow({
  id: "charge-all",
  name: "Charge everybody",
  input: z.object({ order: z.string() }),
})
  .andThen({ id: "find", execute: ({ data }) => data })
  .andThen({
    id: "charge",
    execute: ({ data }) => {
      if (data.order === "ord_1") throw new Error(longError);
      return data;
    },
  });

/** Two hundred steps in a row. */
const long = Array.from({ length: 200 }, (_, index) => index).reduce(
  (workflow, index) => workflow.andThen({ id: `step-${index}`, execute: ({ data }) => data }),
  createWorkflow({ id: "long", name: "Two hundred steps", input: z.object({}) }),
);

/** Its first attempt fails, and the next one begins in an hour; its names run from right to left. */
const patient = createWorkflow({ id: "patient", name: "תשלום 8813!", input: z.object({}) }).andThen({
  id: "call-the-bank",
  name: "שיחה 7!",
  retry: { attempts: 3, delay: "1h", maxDelay: "1h", jitter: false },
  execute: () => {
    throw new Error("503 from the bank");
  },
});

export const waitingWorkflows = { complaint, parcel, nap, invoiceRun, long, patient };
