// The Restate store passes the cases that every store passes, with one shard and with three.
import { describeStore } from "@andante/core/store-cases";
import { restateStore } from "@andante/restate";
import { afterAll, beforeAll } from "vitest";
import { type RestateServer, startRestate } from "./restate-server.ts";

let server: RestateServer;
beforeAll(async () => {
  server = await startRestate();
});
afterAll(() => server.remove());

let namespaces = 0;
for (const shards of [1, 3])
  describeStore(`restateStore with ${shards} shard${shards === 1 ? "" : "s"}`, () => {
    const { ingressUrl, adminUrl, endpointPort: port } = server;
    const endpoint = { port, url: `http://127.0.0.1:${port}` };
    return restateStore({ ingressUrl, adminUrl, endpoint, namespace: `cases-${++namespaces}`, shards });
  });
