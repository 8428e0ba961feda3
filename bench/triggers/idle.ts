// Starts an Andante on a file with schedules that are not due, and prints the milliseconds of its start and its memory in MB.
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { residentMegabytes } from "../measure.ts";
import { tick } from "./workflows.ts";

const [path = ""] = process.argv.slice(2);
const begun = performance.now();
const andante = createAndante({
  workflows: { tick: tick({ own: { every: "1h" } }) },
  store: sqliteStore({ path }),
  logger: createLogger({ level: "error" }),
});
await andante.ready();
const start = performance.now() - begun;
await andante.execute("tick", {});
console.log(JSON.stringify({ start, memory: residentMegabytes() }));
await andante.close();
