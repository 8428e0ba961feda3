// A node for tests, as a process of its own. "start" starts executions and runs them, "nap" starts one that sleeps and one
// with a long body; any other role waits for work. The clock of the process is ahead by as many milliseconds as the last
// argument says.
import { createAndante, createLogger, createWorkflow } from "@andante/core";
import { restateStore } from "@andante/restate";
import { z } from "zod";
import { napTime, shiftClock } from "./shift-clock.ts";

const [
  ,
  ,
  ingressUrl = "",
  adminUrl = "",
  port = "",
  url = "",
  namespace = "",
  role = "",
  lease = "",
  ahead = "",
] = process.argv;
shiftClock(Number(ahead));
const input = z.object({ n: z.number() });
const bodyOf = (time: number) => async (n: number) => {
  await new Promise((resolve) => setTimeout(resolve, time));
  return { n: n + 1 };
};
const [short, long] = [bodyOf(1_000), bodyOf(napTime)];
const slow = createWorkflow({ id: "slow", input })
  .andThen({ id: "first", execute: ({ data }) => ({ n: data.n + 1 }) })
  .andThen({ id: "second", execute: ({ data }) => short(data.n) });
const nap = createWorkflow({ id: "nap", input }).andSleep({ id: "sleep", duration: napTime });
const busy = createWorkflow({ id: "busy", input }).andThen({
  id: "body",
  execute: ({ data }) => long(data.n),
});
const store = restateStore({
  ingressUrl,
  adminUrl,
  endpoint: { port: Number(port), url },
  namespace,
  lease: Number(lease),
});
const logger = createLogger({ level: "silent" });
const andante = createAndante({ workflows: { slow, nap, busy }, store, logger });
await andante.ready();
if (role === "start")
  for (let n = 0; n < 10; n++) await andante.start("slow", { n }, { executionId: `e-${n}` });
if (role === "nap")
  for (const id of ["nap", "busy"] as const) await andante.start(id, { n: 0 }, { executionId: id });
process.stdout.write("ready\n");
