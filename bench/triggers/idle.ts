// Starts an Andante on a file with schedules or waiters that have nothing to do, and prints the milliseconds of its start and its
// memory in MB.
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { residentMegabytes } from "../measure.ts";
import { takesOwn, tick } from "./workflows.ts";

const [path = "", kind = "schedules"] = process.argv.slice(2);
const begun = performance.now();
const workflows = kind === "waiters" ? { takesOwn, tick: tick() } : { tick: tick({ own: { every: "1h" } }) };
const andante = createAndante({
  workflows,
  store: sqliteStore({ path }),
  logger: createLogger({ level: "error" }),
});
await andante.ready();
const start = performance.now() - begun;
await andante.execute("tick", {});
console.log(JSON.stringify({ start, memory: residentMegabytes() }));
await andante.close();
