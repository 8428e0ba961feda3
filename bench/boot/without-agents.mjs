// Andante with a workflow and no agent, for the benchmark of starts. Arguments: port, database file.
import { createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { z } from "zod";

const [port, path = ""] = process.argv.slice(2);
const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
  id: "times-two",
  execute: ({ data }) => ({ n: data.n * 2 }),
});
await serve({
  workflows: { double },
  store: sqliteStore({ path }),
  port: Number(port),
  logger: createLogger({ level: "error" }),
});
