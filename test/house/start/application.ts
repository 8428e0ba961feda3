// A small application for the test of a start's imports. Argument: `agents` to register one.
import { Agent, createLogger, createWorkflow, memoryStore } from "@andante/core";
import { mcpTools } from "@andante/core/mcp";
import { scriptedModel } from "@andante/core/test";
import { serve } from "@andante/server";
import { z } from "zod";

const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
  id: "times-two",
  execute: ({ data }) => data.n * 2,
});
// Its client is loaded when the agent is first used.
const tools = mcpTools({ files: { url: "http://127.0.0.1:1/mcp" } });
const agents = { echo: new Agent({ id: "echo", model: scriptedModel(["hello"]), tools }) };
const server = await serve({
  workflows: { double },
  agents: process.argv[2] === "agents" ? agents : {},
  store: memoryStore(),
  port: 0,
  logger: createLogger({ level: "silent" }),
});
const response = await fetch(`${server.url}/workflows/double/execute`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"input":{"n":21}}',
});
if (response.status !== 200) throw new Error(`the execution responded with ${response.status}`);
await server.close();
