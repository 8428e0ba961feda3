// A node for tests, as a process of its own. "start" starts executions and runs them; any other role waits for work.
import { createAndante, createLogger, createWorkflow } from "@andante/core";
import { restateStore } from "@andante/restate";
import { z } from "zod";

const [, , ingressUrl = "", adminUrl = "", port = "", url = "", role = ""] = process.argv;
const slow = createWorkflow({ id: "slow", input: z.object({ n: z.number() }) })
  .andThen({ id: "first", execute: ({ data }) => ({ n: data.n + 1 }) })
  .andThen({
    id: "second",
    execute: async ({ data }) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return { n: data.n + 1 };
    },
  });
const store = restateStore({
  ingressUrl,
  adminUrl,
  endpoint: { port: Number(port), url },
  namespace: "two-nodes",
  lease: 2_000,
});
const andante = createAndante({ workflows: { slow }, store, logger: createLogger({ level: "silent" }) });
await andante.ready();
if (role === "start")
  for (let n = 0; n < 10; n++) await andante.start("slow", { n }, { executionId: `e-${n}` });
process.stdout.write("ready\n");
