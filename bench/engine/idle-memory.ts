// Opens a database, loads its executions, resumes one suspension if one is named, and prints its memory in MB.
// Arguments: database file, and an execution of the workflow `gate` to resume.
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { residentMegabytes } from "../measure.ts";
import { gate, sleeper, three } from "./workflows.ts";

const [path = "", executionId] = process.argv.slice(2);
const andante = createAndante({
  workflows: { three, gate, sleeper },
  store: sqliteStore({ path }),
  logger: createLogger({ level: "error" }),
});
await andante.ready();
const waiting = executionId ?? (await andante.execute("gate", { n: 1 })).executionId;
await andante.resume("gate", waiting, "go");
console.log(residentMegabytes());
await andante.close();
