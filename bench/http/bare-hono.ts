// The yardstick: a Hono route that makes the same grouped commits with no engine, and a bare stream of events.
// Arguments: port, database file that has the store's tables.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { uuid } from "../../packages/core/src/values/uuid.ts";
import { startBareWriter } from "../engine/bare-writer.ts";

const [port, path = ""] = process.argv.slice(2);
const writer = startBareWriter(path);
const steps: Record<string, number> = { one: 1, three: 3 };
const app = new Hono();

app.post("/workflows/:id/execute", async (http) => {
  const { input } = await http.req.json();
  const executionId = uuid();
  const startAt = new Date().toISOString();
  const suspends = http.req.param("id") === "gate";
  if (suspends) await writer.half(executionId, "first");
  else await writer.execution(executionId, steps[http.req.param("id")] ?? 1);
  const data = {
    executionId,
    startAt,
    endAt: suspends ? null : new Date().toISOString(),
    status: suspends ? "suspended" : "completed",
    result: suspends ? null : { n: input.n + 1 },
  };
  return http.json({ success: true, data });
});

app.post("/workflows/gate/executions/:executionId/resume", async (http) => {
  await http.req.json();
  const executionId = http.req.param("executionId");
  const startAt = new Date().toISOString();
  await writer.half(executionId, "second");
  const data = { executionId, startAt, endAt: new Date().toISOString(), status: "completed", result: 2 };
  return http.json({ success: true, data });
});

app.post("/workflows/:id/stream", async (http) => {
  await http.req.json();
  return streamSSE(http, async (stream) => {
    for (const type of ["workflow-start", "workflow-complete", "workflow-result"]) {
      await stream.writeSSE({ data: JSON.stringify({ type, timestamp: new Date().toISOString() }) });
    }
  });
});

serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" });
