// A chat whose model calls five tools with side effects, two of them at once, and then reports the results.
import { tool } from "ai";
import { z } from "zod";
import { controlledModel, type Said } from "../support/controlled-model.ts";

const script: readonly Said[] = [
  { text: ["I look ", "it up. "], calls: [{ name: "find", input: { order: 7 } }] },
  {
    // Some providers give every call the same id.
    calls: [
      { id: "call_0", name: "refund", input: { order: 7 } },
      { id: "call_1", name: "notify", input: { order: 7 } },
    ],
  },
  { text: ["One more. "], calls: [{ id: "call_0", name: "record", input: { order: 7 } }] },
  { calls: [{ id: "call_0", name: "close", input: { order: 7 } }] },
  { text: ["All ", "is ", "done."] },
];

/** The replies of the model depend only on the progress of the conversation. */
export function fiveToolsModel() {
  return controlledModel(({ prompt }) => {
    const rounds = prompt.filter(({ role }) => role === "assistant").length;
    const said = script[rounds];
    if (said === undefined) throw new Error(`there is no round ${rounds}`);
    return said;
  });
}

export const toolNames = ["find", "refund", "notify", "record", "close"] as const;

/** Tools that call `ran` when they have had their effect. */
export function fiveTools(ran: (name: string, key: string) => void) {
  const inputSchema = z.object({ order: z.number() });
  const make = (name: string) =>
    tool({
      inputSchema,
      execute: ({ order }, { context }) => {
        ran(name, String(Object(context).idempotencyKey));
        return { [name]: order };
      },
    });
  return Object.fromEntries(toolNames.map((name) => [name, make(name)]));
}

export const wholeReply = "I look it up. One more. All is done.";

/** The usage of five calls of the model. */
export const wholeUsage = { inputTokens: 50, outputTokens: 25, totalTokens: 75, calls: 5 };
