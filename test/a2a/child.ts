// A server with an agent and a workflow for A2A clients, in a process of its own. Argument: the file of its database.

import { setTimeout } from "node:timers/promises";
import { Agent, createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { publish } from "../mcp/publish.ts";

const [, , path = ""] = process.argv;

/** Says one word, then takes its time. */
const slow = new Agent({
  id: "slow",
  model: controlledModel(() => ({
    text: ["first ", "second"],
    hold: (piece) => (piece === 1 ? setTimeout(1500) : undefined),
  })),
});

const { url } = await serve({
  workflows: { publish },
  agents: { slow },
  a2a: { expose: ["slow", "publish"], push: { allowPrivate: true } },
  store: sqliteStore({ path }),
  port: 0,
  logger: createLogger({ level: "silent" }),
});
process.stdout.write(`${url}\n`);
