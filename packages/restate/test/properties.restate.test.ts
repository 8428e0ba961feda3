// The random families on Restate: three trials of each, or as many as ANDANTE_PROPERTIES_RUNS says.
import { restateStore } from "@andante/restate";
import { afterAll } from "vitest";
import { testFamilies } from "../../core/test/properties/families.ts";
import { startRestate } from "./restate-server.ts";

const seed = Number(process.env.ANDANTE_PROPERTIES_SEED ?? 1);
const runs = Number(process.env.ANDANTE_PROPERTIES_RUNS ?? 3);

const server = await startRestate();
// The world of a trial does not repeat a call that fails, so no process may lose its lease on a busy machine.
const store = restateStore({ ...server.options("properties"), lease: 120_000 });
await store.open();
afterAll(async () => {
  await store.close();
  await server.remove();
});

testFamilies(() => store, { seed, runs, batchTime: 60_000 + runs * 20_000, seconds: 0, limit: 0 });
