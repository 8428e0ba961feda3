// A server in a process of its own, for tests in which the process ends: serves the samples, prints its address, and waits.
import { createLogger, memoryStore } from "@andante/core";
import { type ServeOptions, serve } from "@andante/server";
import { agents } from "../support/agents.ts";
import { provider } from "../support/tokens.ts";
import { workflows } from "../support/workflows.ts";

const { protect = false, ...options }: Partial<ServeOptions> & { protect?: boolean } = JSON.parse(
  process.argv[2] ?? "{}",
);
const { url } = await serve({
  workflows,
  agents,
  store: memoryStore(),
  port: 0,
  hostname: "127.0.0.1",
  logger: createLogger({ level: "warn", format: "json", destination: process.stderr }),
  ...(protect && { auth: provider({ webSocket: "protect" }) }),
  ...options,
});
process.stdout.write(`${url}\n`);
