// The served process of the attacks: serves their workflows and agents from a file, and reports its address.
import net from "node:net";
import { Agent, andThen, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { z } from "zod";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { provider } from "../support/tokens.ts";
import { sum, twice } from "../support/workflows.ts";
import { deniedWorkflow, filesHost } from "./target.ts";

// The AI SDK loads no file from loopback, so the attacker's files have a name that only this process knows.
const connect = net.connect;
net.connect = ((options: net.NetConnectOpts, ...rest: []) =>
  connect(
    "host" in options && options.host === filesHost ? { ...options, host: "127.0.0.1" } : options,
    ...rest,
  )) as typeof net.connect;

const mebibyte = 1024 * 1024;
const numbers = createWorkflow({ id: "numbers", input: z.object({ items: z.array(z.number()) }) }).andThen({
  id: "count",
  execute: ({ data }) => data.items.length,
});
/** Its journal is 15 MiB long. */
const large = createWorkflow({ id: "large", input: z.unknown() })
  .andAll({
    id: "all",
    steps: [1, 2, 3, 4].map((n) => andThen({ id: `step-${n}`, execute: () => "x".repeat(3.7 * mebibyte) })),
  })
  .andThen({ id: "last", execute: () => "done" });

const model = controlledModel((call) => {
  const text = lastText(call);
  // The model of the tests keeps every call.
  model.asked.length = 0;
  return { text: [text] };
});

const { url } = await serve({
  workflows: { sum, twice, numbers, large },
  agents: { echo: new Agent({ id: "echo", model, memory: { window: 1 } }) },
  store: sqliteStore({ path: process.argv[2] ?? "" }),
  port: 0,
  hostname: "127.0.0.1",
  grace: 1000,
  auth: provider(),
  authorize: ({ action, resource, userId }) => {
    if (/^(?:executions\.(?:read|list|events)|traces\.)/.test(action))
      return userId !== "mallory" || resource.workflowId !== deniedWorkflow ? "own" : false;
    return /^executions\.(?:resume|suspend|cancel)$/.test(action) || "own";
  },
  allowedHosts: ["localhost", "127.0.0.1"],
  cors: { origin: "http://our.example", credentials: true },
  configureApp: (app) => {
    app.post("/custom", async (c) => c.json({ success: true, data: (await c.req.text()).length }));
  },
  logger: createLogger({ level: "error", format: "json", destination: process.stderr }),
});
process.send?.({ url });
process.channel?.unref();
