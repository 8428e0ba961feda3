// Two nodes on one database, as their callers see them.
import { type Andante, createAndante, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let server: PostgresServer;
const nodes: Andante[] = [];
beforeAll(async () => {
  server = await startPostgres();
  for (let count = 0; count < 2; count++) {
    const store = postgresStore({ url: server.url, schema: "nodes" });
    const node = createAndante({ store, workflows: { gate }, logs: { level: "info" } });
    nodes.push(node);
    await node.ready();
  }
});
afterAll(async () => {
  for (const node of nodes) await node.close({ grace: 0 });
  await server.remove();
});

const gate = createWorkflow({ id: "gate", input: z.unknown() })
  .andThen({ id: "ask", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
  .andThen({
    id: "tell",
    execute: ({ data, logger }) => {
      logger.info({ said: data }, "the gate was opened");
      return data;
    },
  });

test("what begins on one is followed and resumed on the other, and its lines are seen on both", async () => {
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  const seen = nodes.map((node) => {
    const lines: string[] = [];
    const { stop } = node.logs.follow(({ record }) => lines.push(JSON.parse(record).msg));
    return { lines, stop };
  });
  const { executionId, status } = await a.execute("gate", {});
  expect(status).toBe("suspended");
  const stream = await a.attach("gate", executionId);
  const resumed = await b.resume("gate", executionId, "open");
  expect(resumed).toMatchObject({ status: "completed", result: "open" });
  const types: string[] = [];
  for await (const { type } of stream?.events ?? []) types.push(type);
  const journal = (await b.events("gate", executionId)).map(({ type }) => type);
  expect(types).toEqual([...journal, "workflow-result"]);
  for (const { lines, stop } of seen) {
    const found = () => lines.filter((line) => line === "the gate was opened");
    await expect.poll(found, { timeout: 5000 }).toHaveLength(1);
    stop();
  }
});
