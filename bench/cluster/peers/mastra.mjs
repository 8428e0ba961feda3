// Mastra with a workflow of three steps on PostgreSQL. Argument: the address of the database.
import { Mastra } from "@mastra/core/mastra";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { PostgresStore } from "@mastra/pg";
import { z } from "zod";
import { serveLoad } from "./load.mjs";

const [url] = process.argv.slice(2);
const shape = z.object({ n: z.number() });
const step = (id) =>
  createStep({
    id,
    inputSchema: shape,
    outputSchema: shape,
    execute: async ({ inputData }) => ({ n: inputData.n + 1 }),
  });
const workflow = createWorkflow({ id: "three", inputSchema: shape, outputSchema: shape })
  .then(step("a"))
  .then(step("b"))
  .then(step("c"))
  .commit();
const storage = new PostgresStore({ id: "bench", connectionString: url });
const mastra = new Mastra({
  workflows: { three: workflow },
  storage,
  logger: false,
  telemetry: { enabled: false },
});
await storage.init();
serveLoad(async () => {
  const run = await mastra.getWorkflow("three").createRun();
  const { status, result } = await run.start({ inputData: { n: 1 } });
  if (status !== "success" || result.n !== 4) throw new Error(`Mastra said ${status}`);
});
