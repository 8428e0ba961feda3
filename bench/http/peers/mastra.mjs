// Mastra with workflows of one step, three steps and a wait, and an agent, on a LibSQL file. Arguments: port, database file.
import { serve } from "@hono/node-server";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { MastraServer } from "@mastra/hono";
import { LibSQLStore } from "@mastra/libsql";
import { Hono } from "hono";
import { z } from "zod";
import { deltaModel } from "./model.mjs";

const [port, database] = process.argv.slice(2);
const shape = z.object({ n: z.number() });
const define = (id, ids) => {
  let workflow = createWorkflow({ id, inputSchema: shape, outputSchema: shape });
  for (const step of ids) {
    workflow = workflow.then(
      createStep({
        id: step,
        inputSchema: shape,
        outputSchema: shape,
        execute: async ({ inputData }) => ({ n: inputData.n + 1 }),
      }),
    );
  }
  return workflow.commit();
};
const gate = createWorkflow({ id: "gate", inputSchema: shape, outputSchema: shape })
  .then(
    createStep({
      id: "wait",
      inputSchema: shape,
      outputSchema: shape,
      resumeSchema: z.object({ ok: z.boolean() }),
      suspendSchema: z.object({}),
      execute: async ({ inputData, resumeData, suspend }) => (resumeData ? inputData : suspend({})),
    }),
  )
  .commit();
const mastra = new Mastra({
  agents: { bench: new Agent({ id: "bench", name: "bench", instructions: "Be brief.", model: deltaModel }) },
  workflows: { one: define("one", ["a"]), three: define("three", ["a", "b", "c"]), gate },
  storage: new LibSQLStore({ id: "bench", url: `file:${database}` }),
  logger: false,
  telemetry: { enabled: false },
});
const app = new Hono();
const server = new MastraServer({ app, mastra });
await server.init();
serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" });
