// Groups of calls that Restate kills or refuses.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { Ingress } from "./ingress.ts";
import { Lane } from "./lane.ts";

let server: Server | undefined;
afterEach(() => server?.close());

/** A lane to a server that answers a group of so many items with a status, and 200 with the names of the items. */
async function laneTo(statusOf: (names: readonly string[]) => number) {
  const groups: string[][] = [];
  server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { items }: { items: { name: string }[] } = JSON.parse(text);
    const names = items.map(({ name }) => name);
    groups.push(names);
    response.writeHead(statusOf(names));
    response.end(JSON.stringify(names.map((value) => ({ value }))));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}`;
  const ingress = new Ingress({
    ingressUrls: [url],
    adminUrl: url,
    port: 1,
    endpointUrl: url,
    namespace: "n",
    shards: 1,
    lease: 1,
    token: undefined,
    identityKeys: [],
  });
  return { lane: new Lane(ingress, "/shard/write", 1), groups };
}

test("calls of the same time are a group, and those that arrive while it is under way are the next", async () => {
  const { lane, groups } = await laneTo(() => 200);
  const call = (name: string) => lane.call(name, {});
  const first = ["a", "b"].map(call);
  await Promise.resolve();
  const results = await Promise.all([...first, ...["c", "d"].map(call)]);
  expect(results.map(({ value }) => value)).toEqual(["a", "b", "c", "d"]);
  expect(groups).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
});

test("a group that was killed is sent again item by item: the store is not available for the one that fails", async () => {
  const { lane, groups } = await laneTo((names) => (names.includes("bad") ? 500 : 200));
  const results = await Promise.allSettled(["a", "b", "bad", "c"].map((name) => lane.call(name, {})));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(results[2]).toMatchObject({ reason: { code: "store-unavailable" } });
  expect(groups).toEqual([["a", "b", "bad", "c"], ["a"], ["b"], ["bad"], ["c"]]);
});

test("a message that Restate does not take is refused", async () => {
  const { lane } = await laneTo(() => 413);
  await expect(lane.call("long", {})).rejects.toMatchObject({ code: "store-refused" });
});
