// The served process of the fuzzer: serves one mode from a file, prints its address, and reports its memory and its use of the processor when asked.
import { createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { agents } from "../support/agents.ts";
import { modes, workflows } from "./modes.ts";

const [mode = "", path = ""] = process.argv.slice(2);
// Waits for a gate that is never opened.
const { held, ...others } = agents;
const { url } = await serve({
  workflows,
  agents: others,
  store: sqliteStore({ path }),
  port: 0,
  hostname: "127.0.0.1",
  grace: 1000,
  logger: createLogger({ level: "warn", format: "json", destination: process.stderr }),
  ...modes[mode],
});

process.on("message", (asked) => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const usage = { processor: (userCPUTime + systemCPUTime) / 1000, maxRss: maxRSS * 1024 };
  if (asked === "usage") return process.send?.({ ...usage, rss: process.memoryUsage().rss });
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return process.send?.({ heapUsed, external, rss });
});
process.send?.({ url });
// The channel alone does not keep the process: it ends in its own time after SIGTERM.
process.channel?.unref();
