// A call that fails at every attempt blocks its shard: the log names the shard, and it frees itself.
import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { createAndante, createLogger, createWorkflow } from "@andante/core";
import { restateStore } from "@andante/restate";
import { createEndpointHandler, type ObjectContext, object } from "@restatedev/restate-sdk";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { startProxy } from "./endpoint-proxy.ts";
import { startRestate } from "./restate-server.ts";

const server = await startRestate();
afterAll(() => server.remove());

/** Another release of the shard, which begins a call with other commands and never ends it. */
async function startOtherRelease() {
  const begun = Promise.withResolvers<void>();
  const write = async (context: ObjectContext) => {
    context.set("another", 1);
    // Its reply shows that the first command is in the journal.
    await context.run(() => 1);
    begun.resolve();
    await new Promise(() => undefined);
  };
  const services = [object({ name: "AndanteShard1", handlers: { write } })];
  const release = createHttp2Server(createEndpointHandler({ services, logger: () => undefined }));
  release.listen(0, "127.0.0.1");
  await once(release, "listening");
  const { port }: AddressInfo = JSON.parse(JSON.stringify(release.address()));
  return { port, begun: begun.promise, close: () => release.close() };
}

test("a journal mismatch blocks a shard for less than a minute: the log names it, and starts succeed then", async () => {
  const { ingressUrl, endpointPort } = server;
  const [, port] = server.ports;
  const proxy = await startProxy(endpointPort, port);
  const lines: string[] = [];
  const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
    id: "times-two",
    execute: ({ data }) => data.n * 2,
  });
  const logger = createLogger({
    level: "info",
    format: "json",
    destination: { write: (line: string) => void lines.push(line) },
  });
  const store = restateStore({ ...server.options("blocked", port), shards: 1, lease: 60_000 });
  const andante = createAndante({ workflows: { double }, store, logger });
  await andante.ready();

  const other = await startOtherRelease();
  proxy.pointTo(other.port);
  const headers = { "content-type": "application/json" };
  const call = { method: "POST", headers, body: JSON.stringify({ at: 0, items: [] }) };
  await fetch(`${ingressUrl}/AndanteShard1/blocked.0/write/send`, call);
  await other.begun;
  proxy.pointTo(port);
  other.close();

  const start = performance.now();
  let result: unknown;
  while (result === undefined)
    try {
      result = (await andante.execute("double", { n: 2 })).result;
    } catch (error) {
      expect(error).toMatchObject({ code: "store-unavailable" });
    }
  expect(result).toBe(4);
  expect(performance.now() - start).toBeLessThan(60_000);
  const named = lines.filter((line) => line.includes("the shard blocked.0 is blocked by a call that fails"));
  expect(named).toHaveLength(1);
  await expect.poll(async () => (await andante.health()).problem).toBe(null);
  await andante.close();
  proxy.close();
});
