// andAgent with an agent of Andante: five tools with effects, two of them at once, one that fails and one that waits.
import { Agent, createWorkflow, operationContext } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { tool } from "ai";
import { z } from "zod";
import type { Bodies } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

const end = "All five are done";

/** The tools that the model asks for, call by call; providers give the same ids again. */
const script = [["reserve"], ["charge", "mail"], ["refuse"], ["ship"]];

export const scenario: MakeScenario = (bodies) => ({
  input: { topic: "rivers" },
  answer: ({ data }) => (Object(data).toolName === "ship" ? { resumeData: { approved: true } } : undefined),
  workflow: createWorkflow({ id: "tools", input: z.object({ topic: z.string() }) })
    .andAgent({
      id: "work",
      agent: agent(bodies),
      prompt: bodies.quick(({ data, executionId }) => `Do all of it: ${data.topic} (${executionId} work)`),
    })
    .andThen({ id: "last", execute: bodies.quick(({ data }) => ({ said: data.text })) }),
});

function agent(bodies: Bodies): Agent {
  const entry = (name: string, run: () => unknown, needsApproval = false) =>
    tool({
      description: name,
      inputSchema: z.object({}),
      contextSchema: operationContext,
      needsApproval,
      execute: bodies.tool(4, run),
    });
  return new Agent({
    id: "worker",
    // Its reply depends only on the conversation so far, however often it is asked.
    model: scriptedModel(
      Array.from({ length: 1000 }, () => ({ prompt }) => {
        const asked = prompt.filter(({ role }) => role === "assistant").length;
        const tools = script[asked];
        if (tools === undefined) return bodies.said(JSON.stringify(prompt), end);
        return { toolCalls: tools.map((toolName, index) => ({ toolName, toolCallId: `call_${index}` })) };
      }),
    ),
    tools: {
      reserve: entry("reserve", () => ({ reserved: 7 })),
      charge: entry("charge", () => "charged"),
      mail: entry("mail", () => ["a", "b"]),
      refuse: entry("refuse", () => {
        throw new Error("not today");
      }),
      ship: entry("ship", () => null, true),
    },
  });
}
