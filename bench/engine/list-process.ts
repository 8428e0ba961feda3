// Runs one long list in a process of its own, and prints its cost as JSON.
// Arguments: database file, workflow (`list` or `naps`), number of items; or an execution of `list` to go on with.
import { type Andante, createAndante, createLogger, sqliteStore } from "@andante/core";
import { residentMegabytes } from "../measure.ts";
import { list, naps } from "./workflows.ts";

const [path = "", workflowId = "", given = ""] = process.argv.slice(2);
// Which workflow it runs is told by an argument, so the ids are not checked.
const andante: Andante = createAndante({
  workflows: { list, naps },
  store: sqliteStore({ path }),
  logger: createLogger({ level: "error" }),
});
// The first execution loads and compiles code, which is not part of the list's cost.
const warmUp = await andante.execute(workflowId, { n: 100 });
if (warmUp.status === "suspended") await andante.resume(workflowId, warmUp.executionId, "go");
const idle = residentMegabytes();
let peak = idle;
const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss() / 1024 / 1024)), 20);

const items = Number(given);
const start = performance.now();
const { executionId } = Number.isNaN(items)
  ? await andante.resume(workflowId, given, "go")
  : await andante.execute(workflowId, { n: items });
const milliseconds = performance.now() - start;
clearInterval(watch);
console.log(JSON.stringify({ executionId, milliseconds, grown: Math.max(0, peak - idle) }));
await andante.close();
