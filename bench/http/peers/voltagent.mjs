// VoltAgent with a one-step and a three-step workflow. Arguments: port, and a database file or "memory".
import { andThen, createWorkflow, InMemoryStorageAdapter, Memory, VoltAgent } from "@voltagent/core";
import { LibSQLMemoryAdapter } from "@voltagent/libsql";
import { honoServer } from "@voltagent/server-hono";
import { z } from "zod";

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
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {}, child: () => silent };
new VoltAgent({
  agents: {},
  workflows: { one: define("one", ["a"]), three: define("three", ["a", "b", "c"]) },
  server: honoServer({ port: Number(port), enableSwaggerUI: false }),
  logger: silent,
  memory,
});
