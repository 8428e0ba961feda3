// The agents of the contract tests. Their models are scripted; their replies follow from their messages.
import { APICallError } from "@ai-sdk/provider";
import { Agent, PublicError } from "@andante/core";
import { ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { gates } from "./gates.ts";

/** A provider's message about its failure, which must not reach a caller. */
export const secretWords = "hunter2 is the key at provider.example";

const refusal = (statusCode: number) =>
  new APICallError({
    message: secretWords,
    url: "http://provider.example",
    requestBodyValues: {},
    statusCode,
    responseBody: secretWords,
    isRetryable: false,
  });

const words = (text: string) => text.split(/(?<= )/);

export const echoModel = controlledModel((call) => ({ text: words(`You said: ${lastText(call)}`) }));
export const echo = new Agent({
  id: "echo",
  name: "Echo",
  purpose: "Says it again",
  instructions: "Repeat.",
  model: echoModel,
  allowProviderOptions: { scripted: ["mode"] },
});

/** Lets callers ask for less, not for more. */
export const boundedModel = controlledModel(() => ({ text: ["ok"] }));
const bounded = new Agent({ id: "bounded", model: boundedModel, maxOutputTokens: 50, temperature: 0.1 });

/** Remembers only a few messages. */
export const shortModel = controlledModel((call) => ({ text: [`seen ${call.prompt.length}`] }));
const short = new Agent({ id: "short", model: shortModel, memory: { window: 3 } });
const forgetful = new Agent({ id: "forgetful", model: shortModel, memory: false });

/** Calls `add` when asked to add, and replies with the result. */
export const adder = new Agent({
  id: "adder",
  purpose: "Adds numbers",
  instructions: ({ userId }) => `You add for ${userId ?? "nobody"}.`,
  model: controlledModel((call) => {
    const last = call.prompt.at(-1);
    if (last?.role === "tool") return { text: words(`The tool says ${JSON.stringify(last.content)}`) };
    return { calls: [{ name: lastText(call).includes("badly") ? "fail" : "add", input: { a: 1, b: 2 } }] };
  }),
  tools: {
    add: tool({
      description: "Adds two numbers",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    }),
    fail: tool({
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      execute: (): number => {
        throw new Error(secretWords);
      },
    }),
  },
  subAgents: [echo],
});

/** Deletes a file when a person allows it. */
export const deleted: unknown[] = [];
export const careful = new Agent({
  id: "careful",
  model: controlledModel((call) => {
    const last = call.prompt.at(-1);
    if (last?.role === "tool") return { text: words(`Done: ${JSON.stringify(last.content)}`) };
    if (lastText(call).startsWith("delete")) {
      return {
        text: ["Let me see. "],
        calls: [{ name: "remove", input: { file: lastText(call).slice(7) } }],
      };
    }
    return { text: ["Fine."] };
  }),
  tools: {
    remove: tool({
      inputSchema: z.object({ file: z.string() }),
      execute: ({ file }) => {
        deleted.push(file);
        return `${file} is gone`;
      },
    }),
  },
  toolApproval: { remove: "user-approval" },
});

/** Asks the client for the place, then repeats its output. */
const asking = new Agent({
  id: "asking",
  model: controlledModel((call) => {
    const last = call.prompt.at(-1);
    if (last?.role === "tool") return { text: [`You are at ${JSON.stringify(last.content)}`] };
    return { calls: [{ name: "locate", input: {} }] };
  }),
  tools: { locate: tool({ inputSchema: z.object({}), outputSchema: z.string() }) },
});

/** Asks for leave, and waits at a door in the middle of saying how it went. */
export const carefulHeld = new Agent({
  id: "careful-held",
  model: controlledModel((call) =>
    call.prompt.at(-1)?.role === "tool"
      ? {
          text: ["It is ", "done."],
          hold: (piece) => (piece === 1 ? gates.pass("careful-held") : undefined),
        }
      : { text: ["May I? "], calls: [{ name: "remove", input: { file: "held.txt" } }] },
  ),
  tools: careful.tools,
  toolApproval: { remove: "user-approval" },
});

/** Replies with the JSON in its message; a second attempt replies with the text after `then`. */
export const objectModel = controlledModel((call) => {
  const asked = call.prompt
    .filter(({ role }) => role === "user")
    .map((message) => JSON.stringify(message.content));
  const [first = ""] = asked.slice(-1)[0]?.includes("That does not fit") ? asked.slice(-2) : asked.slice(-1);
  const [said = "", then = said] = lastTextOf(first).split(" then ");
  return { text: words(asked.at(-1)?.includes("That does not fit") ? then : said) };
});
const lastTextOf = (content: string) =>
  z.array(z.looseObject({ text: z.string() })).parse(JSON.parse(content))[0]?.text ?? "";
const object = new Agent({ id: "object", model: objectModel });

const status = controlledModel((call) => ({ refuse: refusal(Number(lastText(call))) }));
const failing = new Agent({ id: "failing", model: status, maxRetries: 0 });
const cut = new Agent({
  id: "cut",
  model: controlledModel(() => ({
    text: ["half ", "an ", "answer"],
    breakAt: { piece: 2, error: new Error(secretWords) },
  })),
});
const silent = new Agent({ id: "silent", model: controlledModel(() => ({ text: ["half "], cut: true })) });
const deaf = new Agent({
  id: "deaf",
  timeout: 30,
  model: controlledModel(() => ({ text: ["a"], hold: () => new Promise(() => undefined) })),
});

/** Sends one word, then waits at the door that its input names, then sends the rest. Its signals are recorded. */
export const aborted: string[] = [];
export const heldModel = controlledModel((call) => ({
  text: ["first ", "second ", "third"],
  hold: async (piece, signal) => {
    if (piece !== 1) return;
    const door = lastText(call);
    signal?.addEventListener("abort", () => aborted.push(door));
    await gates.pass(door);
  },
}));
const held = new Agent({ id: "held", model: heldModel });

const foreign = new ToolLoopAgent({ model: echoModel, instructions: "Never shown" });
const publicTool = new Agent({
  id: "public-tool",
  model: controlledModel((call) =>
    call.prompt.at(-1)?.role === "tool" ? { text: ["sorry"] } : { calls: [{ name: "refuse", input: {} }] },
  ),
  tools: {
    refuse: tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new PublicError("closed on Sundays");
      },
    }),
  },
});

export const agents = {
  echo,
  short,
  forgetful,
  adder,
  careful,
  asking,
  object,
  failing,
  cut,
  silent,
  deaf,
  held,
  foreign,
  publicTool,
  bounded,
};
