// A node under test, without HTTP. Arguments: `sqlite` and a file, or `postgres`, an address and a schema.
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { serveLoad } from "./peers/load.mjs";
import { gate, held, three } from "./workflows.ts";

const [kind, where = "", schema = "andante"] = process.argv.slice(2);
const lease = Number(process.env.BENCH_LEASE ?? "10000");
const store = kind === "sqlite" ? sqliteStore({ path: where }) : postgresStore({ url: where, schema, lease });
const workflows = { three, gate, held };
const andante = createAndante({ workflows, store, logger: createLogger({ level: "silent" }) });
await andante.ready();
if (process.env.BENCH_HOLD === "begin") await andante.start("held", { n: 1 }, { executionId: "held" });
serveLoad(async () => {
  const { status, result } = await andante.execute("three", { n: 1 });
  if (status !== "completed" || result.n !== 4) throw new Error(`Andante said ${status}`);
});
