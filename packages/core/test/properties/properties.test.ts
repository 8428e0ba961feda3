// The random families on a store in memory. `npm test` runs the same trials each time, so that a failure comes from a change
// of the code; `npm run properties` looks for others, spreading its time over the families.
import { afterAll, beforeAll } from "vitest";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import { testFamilies } from "./families.ts";

const seconds = Number(process.env.ANDANTE_PROPERTIES_SECONDS ?? 0);
const chosen = seconds === 0 ? 1 : Math.floor(Math.random() * 2 ** 31);
const seed = Number(process.env.ANDANTE_PROPERTIES_SEED ?? chosen);
// Only mutation runs have a limit.
const limit = Number(process.env.ANDANTE_PROPERTIES_LIMIT ?? 0);

const store = memoryStore();
beforeAll(() => store.open());
afterAll(() => store.close());

const runs = seconds === 0 ? 6 : 20;
testFamilies(() => store, { seed, runs, batchTime: 200_000, seconds, limit });
