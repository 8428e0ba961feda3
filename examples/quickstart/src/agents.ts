// Two agents: one that writes, and one that can read the clock and call the writer.
import { Agent } from "@andante/core";
import { type LanguageModel, tool } from "ai";
import { z } from "zod";

export function agentsWith(model: LanguageModel) {
  const writer = new Agent({
    id: "writer",
    name: "Writer",
    purpose: "Writes short posts",
    model,
    instructions: "You are a writer of short posts. Write one paragraph.",
  });
  const assistant = new Agent({
    id: "assistant",
    name: "Assistant",
    purpose: "Answers questions, knows the time, and has the writer write",
    model,
    instructions: "You are a helpful assistant. Answer in one or two sentences.",
    tools: {
      clock: tool({
        description: "Tells the time",
        inputSchema: z.object({}),
        execute: () => new Date().toISOString(),
      }),
    },
    subAgents: [writer],
  });
  return { writer, assistant };
}
