// Andante with one agent, for the benchmark of streams. Arguments: port.
import { Agent, createLogger, memoryStore } from "@andante/core";
import { serve } from "@andante/server";
import { deltaModel } from "./model.ts";

await serve({
  agents: { bench: new Agent({ id: "bench", model: deltaModel }) },
  store: memoryStore(),
  port: Number(process.argv[2]),
  logger: createLogger({ level: "error" }),
  configureApp: (app) => {
    app.get("/cpu", (http) => http.json(process.cpuUsage()));
  },
});
