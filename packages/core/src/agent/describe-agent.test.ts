// The tools of an agent in lists and details.
import { jsonSchema, type Schema, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../test/support/controlled-model.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./call/agent-options.ts";
import { describeAgent } from "./describe-agent.ts";

const inputSchema = z.object({ number: z.number() });
const tools = {
  plain: tool({ inputSchema, execute: ({ number }) => number }),
  asks: tool({ inputSchema, execute: ({ number }) => number, needsApproval: true }),
  decides: tool({ inputSchema, execute: ({ number }) => number, needsApproval: () => false }),
};

async function approvals(toolApproval: AgentOptions["toolApproval"]) {
  const model = controlledModel(() => ({ text: ["hello"] }));
  const agent = new Agent({ id: "writer", model, tools, ...(toolApproval && { toolApproval }) });
  const described = await describeAgent(agent, new WeakMap());
  return Object.fromEntries(described.tools.map(({ name, approval }) => [name, approval]));
}

test.each<[string, AgentOptions["toolApproval"], object]>([
  ["by the tools themselves", undefined, { plain: undefined, asks: "always", decides: "sometimes" }],
  [
    "by the agent, before the tools",
    { plain: "user-approval", asks: "approved", decides: { type: "user-approval" } },
    { plain: "always", asks: undefined, decides: "always" },
  ],
  ["by a function for one tool", { plain: () => "denied" }, { plain: "sometimes", asks: "always" }],
  ["by one function", () => undefined, { plain: "sometimes", asks: "sometimes", decides: "sometimes" }],
])("the description has whether a person must approve a tool: %s", async (_, given, told) => {
  expect(await approvals(given)).toMatchObject(told);
});

test("the description has the whole agent; sub-agents are named, and are no tools", async () => {
  const model = controlledModel(() => ({ text: ["hello"] }));
  const helper = new Agent({ id: "helper", model });
  const described = tool({ description: "Adds", inputSchema: z.object({ a: z.number() }), execute: () => 1 });
  const agent = new Agent({
    ...{ id: "writer", name: "Writer", purpose: "Writes", instructions: "Be brief.", model },
    ...{ subAgents: [helper], tools: { described, bare: Object({ description: () => "x" }) } },
  });
  expect(await describeAgent(agent, new WeakMap())).toEqual({
    ...{ id: "writer", name: "Writer", purpose: "Writes", instructions: "Be brief." },
    ...{ model: "scripted/scripted", subAgents: ["helper"] },
    tools: [
      {
        name: "described",
        description: "Adds",
        inputSchema: expect.objectContaining({ properties: { a: { type: "number" } }, required: ["a"] }),
      },
      { name: "bare", description: "", inputSchema: {} },
    ],
  });
});

test("the schema of a tool is made once, however often the agent is described, and that of another tool too", async () => {
  const model = controlledModel(() => ({ text: ["hello"] }));
  let made = 0;
  const lazy = (name: string) => (): Schema<object> => {
    made += 1;
    return jsonSchema({ type: "object", title: name });
  };
  const agentWith = (name: string) => {
    const inputSchema = lazy(name);
    return new Agent({ id: name, model, tools: { [name]: tool({ inputSchema, execute: () => name }) } });
  };
  const schemas = new WeakMap();
  const titles: unknown[] = [];
  for (const agent of [agentWith("one"), agentWith("other")])
    for (let times = 0; times < 3; times++)
      titles.push((await describeAgent(agent, schemas)).tools[0]?.inputSchema.title);
  expect(titles).toEqual(["one", "one", "one", "other", "other", "other"]);
  expect(made).toBe(2);
});
