// The Restate store passes the cases that every store passes, with one shard and with three.
import { describeStore } from "@andante/core/store-cases";
import { restateStore } from "@andante/restate";
import { afterAll } from "vitest";
import { listen } from "../src/client/endpoint.ts";
import { startRestate } from "./restate-server.ts";

const server = await startRestate();
// Restate calls this one, however many stores a case has open.
const stopListening = await listen(server.endpointPort, []);
afterAll(async () => {
  await stopListening();
  await server.remove();
});

let namespaces = 0;
for (const shards of [1, 3])
  describeStore(`restateStore with ${shards} shard${shards === 1 ? "" : "s"}`, () =>
    restateStore({ ...server.options(`cases-${++namespaces}`, 0), shards }),
  );
