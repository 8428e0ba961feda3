// Andante with an agent and a workflow on a SQLite file, for the benchmark of starts. Arguments: port, database file.
import { Agent, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { z } from "zod";
import { model } from "./model.mjs";

const [port, path = ""] = process.argv.slice(2);
const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
  id: "times-two",
  execute: ({ data }) => ({ n: data.n * 2 }),
});
await serve({
  agents: { bench: new Agent({ id: "bench", model, instructions: "Be brief." }) },
  workflows: { double },
  store: sqliteStore({ path }),
  port: Number(port),
  logger: createLogger({ level: "error" }),
});
