// A small company's workflows and agents, for the console's tests and pictures: refunds, invoices, posts, documents.
import { Agent, andThen, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { type LanguageModel, tool } from "ai";
import { z } from "zod";

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** A model that never runs out of turns: `reply` computes each response from the last message. */
function endlessModel(modelId: string, reply: Parameters<typeof scriptedModel>[0][number]): LanguageModel {
  const turns = Array.from({ length: 1000 }, () => reply);
  return Object.assign(scriptedModel(turns), { modelId });
}

const draftText =
  "Walking can look simple at first: one foot, then the other. A field guide would begin with shoes, and end with rain.";

export const writer = new Agent({
  id: "writer",
  name: "Writer",
  purpose: "Writes short posts",
  instructions: "Write one paragraph. Plain words, no adjectives that do not work for their living.",
  model: endlessModel("gpt-5", async () => {
    await pause(60);
    return draftText;
  }),
});

/** A reply with everything that markdown has. */
export const report = `## Customer 8813

**Blue Harbour Ltd** placed *fourteen* orders, see [the ledger](https://example.com/ledger?customer=8813):

| Year | Orders | Sum |
| --- | ---: | ---: |
| 2025 | 9 | € 11 204 |
| 2026 | 5 | € 6 180 |

1. Look the customer up with \`findCustomer\`
2. Check what is open:
   - invoices
   - tickets

> Invoices are kept for ten years, also when a customer is deleted.

\`\`\`sql
select sum(total) from orders where customer = 'cus_8813' and placed_at >= date '2026-01-01';
\`\`\`

![chart](https://example.com/chart.png)`;

type Call = {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  readonly temperature?: number | undefined;
};

/** Calls the tool that a question fits, and replies once it has the result. */
async function assistantReply({ prompt }: Call) {
  await pause(30);
  const last = prompt.at(-1);
  const text = JSON.stringify(last?.content ?? "");
  if (last?.role === "tool" && text.includes("Blue Harbour")) {
    const call = { toolName: "deleteCustomer", input: { id: "cus_8813", reason: "GDPR request #77" } };
    return {
      text: "No invoices are open, so nothing holds the deletion back. It cannot be undone:",
      toolCalls: [call],
    };
  }
  if (last?.role === "tool") return "Done. The customer's data is gone, and the ticket can be closed.";
  if (/report/i.test(text)) return report;
  if (/delete/i.test(text))
    return {
      text: "I will look the customer up first.",
      toolCalls: [{ toolName: "findCustomer", input: { id: "cus_8813" } }],
    };
  return "Fourteen in total, of which five were placed this year, the last on 3 November.";
}

/** Tells its temperature and the first word of its instructions. */
function terseReply({ prompt, temperature }: Call) {
  const [first] = prompt;
  const word = first?.role === "system" ? String(first.content).split(" ")[0] : "no instructions";
  return `Fourteen, at ${temperature ?? "any"} degrees, as told: ${word}`;
}

export const assistant = new Agent({
  id: "assistant",
  name: "Assistant",
  purpose: "Answers questions, looks customers up, and has the writer write",
  instructions:
    "You help the support team. Look things up before you act. Never change data without a person's word.",
  model: endlessModel("gpt-5", (call) => assistantReply(call)),
  tools: {
    findCustomer: tool({
      description: "Looks a customer up by id or e-mail",
      inputSchema: z.object({ id: z.string() }),
      execute: () => ({ name: "Blue Harbour Ltd", orders: 14, openInvoices: 0 }),
    }),
    deleteCustomer: tool({
      description: "Removes all personal data",
      inputSchema: z.object({ id: z.string(), reason: z.string() }),
      execute: () => ({ removed: true }),
    }),
  },
  toolApproval: { deleteCustomer: "user-approval" },
  playground: { models: { "gpt-5-mini": endlessModel("gpt-5-mini", terseReply) } },
  subAgents: [writer],
});

const refund = createWorkflow({
  id: "refund",
  name: "Refund a customer",
  purpose: "Checks a refund, asks a person above the limit, pays it back",
  input: z.object({
    order: z.string().describe("The order's number"),
    amount: z.number().max(5000),
    reason: z.string(),
  }),
})
  .andThen({
    id: "look-up",
    name: "look up the order",
    execute: async ({ data, logger }) => {
      logger.info({ order: data.order }, "order found");
      await pause(5);
      return data;
    },
  })
  .andThen({ id: "limits", name: "check the limits", execute: ({ data }) => data })
  .andThen({
    id: "approve",
    purpose: "Above 1 000 € a person decides",
    resumeSchema: z.object({
      approved: z.boolean(),
      amount: z.number().max(1240).optional(),
      note: z.string().optional().describe("The customer reads this"),
    }),
    execute: ({ data, resumeData, suspend }) =>
      resumeData
        ? { ...data, ...resumeData }
        : suspend(
            `Approve the refund of € ${data.amount}`,
            { order: data.order, amount: `${data.amount} EUR`, reason: data.reason },
            { deadline: "3h", onDeadline: { resume: { approved: false } } },
          ),
  })
  .andThen({
    id: "pay-back",
    name: "pay back",
    retry: { attempts: 5, delay: 100 },
    execute: ({ data }) => ({ paid: data.approved ? data.amount : 0 }),
  })
  .andThen({ id: "tell", name: "tell the customer", execute: ({ data }) => data });

const charges = new Map<string, number>();

const invoice = createWorkflow({
  id: "invoice",
  name: "Send an invoice",
  purpose: "Makes an invoice, charges the card, sends the receipt",
  input: z.object({ customer: z.string(), card: z.enum(["good", "declined", "slow"]).default("good") }),
})
  .andThen({ id: "make", execute: ({ data }) => ({ ...data, total: 120 }) })
  .andThen({
    id: "charge",
    retry: { attempts: 2, delay: 20 },
    execute: async ({ data, executionId, logger }) => {
      await pause(4);
      if (data.card === "declined") throw new Error("card declined (402)");
      const tries = (charges.get(executionId) ?? 0) + 1;
      charges.set(executionId, tries);
      if (data.card === "slow" && tries === 1) {
        logger.warn({ customer: data.customer }, "the bank did not respond");
        throw new Error("timeout after 30 s");
      }
      return data;
    },
  })
  .andThen({ id: "book", execute: ({ data }) => data })
  .andThen({ id: "send", execute: ({ data }) => ({ sent: data.customer }) });

const measure = createWorkflow({
  id: "measure",
  name: "Measure a text",
  purpose: "Counts words and characters side by side",
  input: z.object({ text: z.string().min(1) }),
})
  .andAll({
    id: "count",
    steps: [
      andThen({ id: "words", execute: ({ data }) => data.text.split(/\s+/).length }),
      andThen({ id: "characters", execute: ({ data }) => data.text.length }),
    ],
  })
  .andThen({ id: "report", execute: ({ data: [words, characters] }) => ({ words, characters }) });

const checked = new Set<string>();

const publish = createWorkflow({
  id: "publish",
  name: "Publish a post",
  purpose: "Drafts a post, checks it, asks a person, publishes what was approved",
  input: z.object({ topic: z.string() }),
  tags: ["posts"],
})
  .andThen({
    id: "outline",
    execute: async ({ data }) => {
      await pause(12);
      return { topic: data.topic, points: ["shoes", "pace", "rain", "home"] };
    },
  })
  .andAgent({ id: "draft", agent: writer, prompt: ({ data }) => `Write about ${data.topic}` })
  .andAll({
    id: "check",
    steps: [
      andThen({
        id: "facts",
        retry: { attempts: 3, delay: 40 },
        execute: async ({ executionId }) => {
          await pause(20);
          if (!checked.has(executionId)) {
            checked.add(executionId);
            throw new Error("503 from the index");
          }
          return { unverified: ["10 000 steps"] };
        },
      }),
      andThen({
        id: "tone",
        execute: async () => {
          await pause(25);
          return { tone: "calm" };
        },
      }),
    ],
  })
  .andThen({
    id: "approve",
    purpose: "Waits until a person has decided",
    resumeSchema: z.object({ approved: z.boolean(), note: z.string().optional() }),
    execute: ({ resumeData, suspend }) =>
      resumeData ??
      suspend("Waiting for approval", { draft: draftText, words: 412, unverified: ["10 000 steps"] }),
  })
  .andThen({ id: "send", execute: ({ data }) => data });

const documents = createWorkflow({
  id: "document-pipeline",
  name: "Document pipeline",
  purpose: "Splits a document, reads each page, puts the parts together",
  input: z.object({ pages: z.int().min(1).max(10_000), milliseconds: z.int().default(1) }),
})
  .andThen({
    id: "split",
    execute: ({ data }) =>
      Array.from({ length: data.pages }, (_, page) => ({ page, milliseconds: data.milliseconds })),
  })
  .andForEach({
    id: "each",
    concurrency: 4,
    step: andThen({
      id: "extract",
      execute: async ({ data }) => {
        if (data.milliseconds > 0) await pause(data.milliseconds);
        return { page: data.page, words: 200 };
      },
    }),
  })
  .andThen({ id: "join", execute: ({ data }) => ({ pages: data.length }) });

export const houseWorkflows = { refund, invoice, measure, publish, documents };
export const houseAgents = { assistant, writer };
