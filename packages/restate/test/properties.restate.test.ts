// The random families on Restate: three trials of each, or as many as ANDANTE_PROPERTIES_RUNS says.
import type { Store } from "@andante/core/store";
import { restateStore } from "@andante/restate";
import { afterAll, beforeAll } from "vitest";
import { testFamilies } from "../../core/test/properties/families.ts";
import { type RestateServer, startRestate } from "./restate-server.ts";

const seed = Number(process.env.ANDANTE_PROPERTIES_SEED ?? 1);
const runs = Number(process.env.ANDANTE_PROPERTIES_RUNS ?? 3);

let server: RestateServer;
let store: Store;
beforeAll(async () => {
  server = await startRestate();
  const { ingressUrl, adminUrl, endpointPort: port } = server;
  const endpoint = { port, url: `http://127.0.0.1:${port}` };
  // The world of a trial does not repeat a call that fails, so no process may lose its lease on a busy machine.
  store = restateStore({ ingressUrl, adminUrl, endpoint, namespace: "properties", lease: 120_000 });
  await store.open();
});
afterAll(async () => {
  await store?.close();
  await server?.remove();
});

testFamilies(() => store, { seed, runs, batchTime: 60_000 + runs * 20_000, seconds: 0, limit: 0 });
