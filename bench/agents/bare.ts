// The yardstick: the AI SDK's own stream on a bare Hono route. Arguments: port.
import { serve } from "@hono/node-server";
import { convertToModelMessages, streamText } from "ai";
import { Hono } from "hono";
import { deltaModel } from "./model.ts";

const app = new Hono();
const encoder = new TextEncoder();
app.get("/cpu", (http) => http.json(process.cpuUsage()));

app.post("/agents/bench/chat", async (http) => {
  const { messages } = await http.req.json();
  const result = streamText({ model: deltaModel, messages: await convertToModelMessages(messages) });
  return result.toUIMessageStreamResponse();
});

app.post("/agents/bench/stream", async (http) => {
  const { input } = await http.req.json();
  const { stream } = streamText({ model: deltaModel, prompt: input });
  const lines = new TransformStream<unknown, Uint8Array>({
    transform: (part, controller) => controller.enqueue(encoder.encode(`data: ${JSON.stringify(part)}\n\n`)),
  });
  return new Response(stream.pipeThrough(lines), { headers: { "content-type": "text/event-stream" } });
});

serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: "127.0.0.1" });
