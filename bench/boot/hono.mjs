// The yardstick: Hono and the AI SDK with one route that asks a model, one that computes, no store. Arguments: port.
import { serve } from "@hono/node-server";
import { generateText } from "ai";
import { Hono } from "hono";
import { z } from "zod";
import { model } from "./model.mjs";

const question = z.object({ input: z.string() });
const double = z.object({ input: z.object({ n: z.number() }) });
const app = new Hono();
app.post("/agents/bench/text", async (http) => {
  const { input } = question.parse(await http.req.json());
  const { text } = await generateText({ model, system: "Be brief.", prompt: input });
  return http.json({ success: true, data: { text } });
});
app.post("/workflows/double/execute", async (http) => {
  const { input } = double.parse(await http.req.json());
  return http.json({ success: true, data: { result: { n: input.n * 2 } } });
});
serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: "127.0.0.1" });
