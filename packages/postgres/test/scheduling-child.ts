// A node with a schedule of every second whose machine has another time, for tests. It prints a line when it is ready,
// and ends with its input.
import { createAndante, createLogger, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { z } from "zod";

const { ahead, ...of } = z
  .object({ url: z.string(), schema: z.string(), ahead: z.number() })
  .parse(JSON.parse(process.argv[2] ?? ""));

const { now } = Date;
Date.now = () => now() + ahead;
Object.defineProperty(performance, "timeOrigin", { value: performance.timeOrigin + ahead });

const tick = createWorkflow({
  id: "tick",
  input: z.object({}),
  schedules: { often: { every: "1s", overlap: "queue", catchUp: "all", input: {} } },
}).andThen({ id: "run", execute: () => "done" });
const andante = createAndante({
  ...{ workflows: { tick }, store: postgresStore({ ...of, lease: 3000 }) },
  logger: createLogger({ level: "error", destination: process.stderr }),
});
await andante.ready();
process.stdin.resume();
process.stdout.write("ready\n");
