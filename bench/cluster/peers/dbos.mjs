// DBOS with a workflow of three steps. Argument: the address of the database.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { serveLoad } from "./load.mjs";

const [url] = process.argv.slice(2);
const add = (name) => DBOS.registerStep(async ({ n }) => ({ n: n + 1 }), { name });
const [a, b, c] = ["a", "b", "c"].map(add);
const three = DBOS.registerWorkflow(async (input) => c(await b(await a(input))), { name: "three" });
DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, runAdminServer: false, logLevel: "error" });
await DBOS.launch();
serveLoad(async () => {
  const { n } = await three({ n: 1 });
  if (n !== 4) throw new Error(`DBOS said ${n}`);
});
