// The agent behind the table: its model emits the parts of the row that the user's message names.
import { setImmediate } from "node:timers/promises";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { Agent, operationContext, PublicError } from "@andante/core";
import { dynamicTool, tool } from "ai";
import { z } from "zod";
import { resultOf } from "../../../packages/core/src/agent/durable/model-parts.ts";
import { gates } from "../../support/gates.ts";
import { type ModelPart, type Row, rows } from "./rows.ts";

/**
 * How the reply of a row runs:
 * - `plain`: as it is.
 * - `held`: the last call waits at a door before it ends.
 * - `continued`: the last call also asks for a tool that needs approval; the call after that waits at a door.
 * - `crashed`: the last call also asks for a tool that waits at a door.
 */
export type Telling = "plain" | "held" | "continued" | "crashed";

/** The message that requests a row. */
export function question(row: string, telling: Telling, door: string): string {
  return JSON.stringify([row, telling, door]);
}

const asked = z.tuple([z.string(), z.enum(["plain", "held", "continued", "crashed"]), z.string()]);

function scriptOf({ prompt }: LanguageModelV4CallOptions) {
  const user = prompt.findLast(({ role }) => role === "user");
  const [part] = user?.role === "user" ? user.content : [];
  const [name, telling, door] = asked.parse(JSON.parse(part?.type === "text" ? part.text : ""));
  const row = rows[name];
  if (row === undefined) throw new Error(`there is no row ${name}`);
  const number = prompt.slice(prompt.lastIndexOf(user ?? prompt[0] ?? never())).filter(isAssistant).length;
  return { name, row, telling, door, number };
}

function never(): never {
  throw new Error("the model was asked nothing");
}

function isAssistant({ role }: { readonly role: string }): boolean {
  return role === "assistant";
}

/** The tool that follows the last call of a row, so that the call is recorded or the message is continued. */
const after: Readonly<Partial<Record<Telling, string>>> = { continued: "allow", crashed: "wait" };

function partsOf({ row, telling, number }: { row: Row; telling: Telling; number: number }): ModelPart[] {
  const said = row.calls[number] ?? [
    { type: "text-start", id: "e" },
    { type: "text-delta", id: "e", delta: "end" },
    { type: "text-end", id: "e" },
  ];
  const extra = number === row.calls.length - 1 ? after[telling] : undefined;
  if (extra === undefined) return [...said];
  return [...said, { type: "tool-call", toolCallId: "after", toolName: extra, input: "{}" }];
}

async function* stream(call: LanguageModelV4CallOptions): AsyncGenerator<ModelPart, undefined> {
  const script = scriptOf(call);
  const { name, row, telling, door, number } = script;
  const parts = partsOf(script);
  yield { type: "stream-start", warnings: [] };
  yield* parts;
  if (parts.some(({ type }) => type === "error")) return;
  if (row.ends === "stopped") {
    // Parts are passed on by promises alone: after two turns of the event loop they have arrived.
    await setImmediate();
    await setImmediate();
    void gates.pass(`${question(name, telling, door)} stopped`);
    await stopped(call.abortSignal);
  }
  const isLast = number >= row.calls.length - 1;
  if (telling === "held" && isLast) await gates.pass(door);
  if (telling === "continued" && number >= row.calls.length) await gates.pass(door);
  const calls = parts.some((part) => part.type === "tool-call" && part.providerExecuted !== true);
  const tokens = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined };
  yield {
    type: "finish",
    finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
    usage: { inputTokens: tokens, outputTokens: { total: 1, text: 1, reasoning: undefined } },
  };
}

function stopped(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

const model: LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "table",
  modelId: "table",
  supportedUrls: {},
  doGenerate: async (call) => {
    const parts: ModelPart[] = [];
    for await (const part of stream(call)) parts.push(part);
    for (const part of parts) if (part.type === "error") throw part.error;
    return resultOf({ parts });
  },
  doStream: async (call) => ({ stream: ReadableStream.from(stream(call)) }),
};

const place = z.object({ at: z.string() });

export const table = new Agent({
  id: "table",
  model,
  tools: {
    look: tool({
      inputSchema: place,
      execute: ({ at }) => {
        if (at === "nowhere") throw new PublicError("There is nothing to see");
        return { seen: at };
      },
    }),
    search: tool({
      inputSchema: place,
      async *execute() {
        yield { found: ["a"] };
        yield { found: ["a", "b"] };
      },
    }),
    report: tool({
      inputSchema: z.object({}),
      contextSchema: operationContext,
      execute: async (_, { context: { write } }) => {
        // By then the call itself has been seen, as with any tool that takes its time.
        await setImmediate();
        write?.({ type: "data-progress", id: "p", data: { percent: 50 } });
        write?.({ type: "data-note", data: "working", transient: true });
        write?.({ type: "data-progress", id: "p", data: { percent: 100 } });
        return "reported";
      },
    }),
    locate: tool({ inputSchema: z.object({}), outputSchema: z.string() }),
    remove: tool({ inputSchema: z.object({ file: z.string() }), execute: () => "gone" }),
    allow: tool({ inputSchema: z.object({}), execute: () => "allowed" }),
    wait: tool({
      inputSchema: z.object({}),
      execute: async (_, { messages, abortSignal }) => {
        const [part] = z.array(z.looseObject({ text: z.string() })).parse(messages[0]?.content);
        await Promise.race([gates.pass(part?.text ?? ""), stopped(abortSignal)]);
        return "waited";
      },
    }),
    anything: dynamicTool({ inputSchema: place, execute: async () => ({ did: "anything" }) }),
  },
  messageMetadata: ({ part }) => {
    if (part.type === "start") return { agent: "table" };
    if (part.type === "finish-step") return { steps: 1 };
    return part.type === "finish" ? { tokens: part.totalUsage.totalTokens } : undefined;
  },
  toolApproval: { remove: "user-approval", allow: "user-approval" },
});
