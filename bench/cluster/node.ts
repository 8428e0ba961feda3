// A node under test, without HTTP. Arguments: `sqlite` and a file, `postgres`, an address and a schema, or `restate`, the
// address of the ingress, a namespace, the address of the administration and a port.
import { createAndante, createLogger, type Store, sqliteStore } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { restateStore } from "@andante/restate";
import { serveLoad } from "./peers/load.mjs";
import { gate, held, three } from "./workflows.ts";

const [kind, where = "", schema = "andante", adminUrl = "", port = ""] = process.argv.slice(2);
const lease = Number(process.env.BENCH_LEASE ?? "10000");
const store = chooseStore();
const workflows = { three, gate, held };
const andante = createAndante({ workflows, store, logger: createLogger({ level: "silent" }) });
await andante.ready();
if (process.env.BENCH_HOLD === "begin") await andante.start("held", { n: 1 }, { executionId: "held" });
serveLoad(async () => {
  const { status, result } = await andante.execute("three", { n: 1 });
  if (status !== "completed" || result.n !== 4) throw new Error(`Andante said ${status}`);
});

function chooseStore(): Store {
  if (kind === "sqlite") return sqliteStore({ path: where });
  if (kind === "postgres") return postgresStore({ url: where, schema, lease });
  const endpoint = { port: Number(port), url: `http://127.0.0.1:${port}` };
  // One shard is the fastest choice for one node.
  return restateStore({ ingressUrl: where, adminUrl, endpoint, namespace: schema, shards: 1, lease });
}
