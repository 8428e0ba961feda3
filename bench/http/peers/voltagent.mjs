// VoltAgent with workflows of one step, three steps and a wait, and an agent. Arguments: port, and a database file or "memory".
import { Agent, andThen, createWorkflow, InMemoryStorageAdapter, Memory, VoltAgent } from "@voltagent/core";
import { LibSQLMemoryAdapter } from "@voltagent/libsql";
import { honoServer } from "@voltagent/server-hono";
import { z } from "zod";
import { deltaModel } from "./model.mjs";

const [port, database] = process.argv.slice(2);
const storage =
  database === "memory" ? new InMemoryStorageAdapter() : new LibSQLMemoryAdapter({ url: `file:${database}` });
const memory = new Memory({ storage });
const define = (id, ids) =>
  createWorkflow(
    {
      id,
      name: id,
      purpose: "benchmark",
      input: z.object({ n: z.number() }),
      result: z.object({ n: z.number() }),
      memory,
    },
    ...ids.map((step) => andThen({ id: step, execute: async ({ data }) => ({ n: data.n + 1 }) })),
  );
const gate = createWorkflow(
  {
    id: "gate",
    name: "gate",
    purpose: "benchmark",
    input: z.object({ n: z.number() }),
    result: z.object({ n: z.number() }),
    memory,
  },
  andThen({
    id: "wait",
    resumeSchema: z.object({ ok: z.boolean() }),
    execute: async ({ data, suspend, resumeData }) => {
      if (!resumeData) await suspend("waiting");
      return { n: data.n };
    },
  }),
);
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {}, child: () => silent };
new VoltAgent({
  agents: {
    bench: new Agent({ name: "bench", instructions: "Be brief.", model: deltaModel, memory: false }),
  },
  workflows: { one: define("one", ["a"]), three: define("three", ["a", "b", "c"]), gate },
  server: honoServer({ port: Number(port), enableSwaggerUI: false }),
  logger: silent,
  memory,
});
