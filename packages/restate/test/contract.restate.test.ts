// The Restate store passes the cases that every store passes, with one shard and with three.
import { describeStore } from "@andante/core/store-cases";
import { restateStore } from "@andante/restate";
import { afterAll, beforeAll } from "vitest";
import { listen } from "../src/client/endpoint.ts";
import { type RestateServer, startRestate } from "./restate-server.ts";

let server: RestateServer;
let stopListening: (() => Promise<void>) | undefined;
beforeAll(async () => {
  server = await startRestate();
  // Restate calls this one, however many stores a case has open.
  stopListening = await listen(server.endpointPort, []);
});
afterAll(async () => {
  await stopListening?.();
  await server.remove();
});

let namespaces = 0;
for (const shards of [1, 3])
  describeStore(`restateStore with ${shards} shard${shards === 1 ? "" : "s"}`, () => {
    const { ingressUrl, adminUrl, endpointPort } = server;
    const endpoint = { port: 0, url: `http://127.0.0.1:${endpointPort}` };
    return restateStore({ ingressUrl, adminUrl, endpoint, namespace: `cases-${++namespaces}`, shards });
  });
