// A process that delivers the events of executions to an endpoint, for tests that kill it. It prints a line when it is ready and
// one when its executions have ended; with each line that it reads, its clock moves a minute on.
import { createAndante, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { z } from "zod";

const settings = z
  .object({
    hook: z.string(),
    /** Executions that it runs. */
    executions: z.number(),
    minutes: z.number(),
    store: z.union([
      z.object({ path: z.string() }),
      z.object({ url: z.string(), schema: z.string(), lease: z.number() }),
    ]),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

let ahead = settings.minutes * 61_000;
process.stdin.on("data", () => {
  ahead += 61_000;
});
const clock = {
  now: () => Date.now() + ahead,
  at: (time: number, _: "sleep" | "limit", callback: () => void) => {
    const timer = setTimeout(callback, Math.max(0, time - ahead - Date.now()));
    return () => clearTimeout(timer);
  },
};

const asks = createWorkflow({ id: "asks", input: z.object({}) }).andThen({
  id: "gate",
  execute: ({ resumeData, suspend }) => resumeData ?? suspend("Go on?"),
});
const { store: of } = settings;
const andante = createAndante({
  ...{ workflows: { asks }, clock, logger: createLogger({ level: "error", destination: process.stderr }) },
  store: "path" in of ? sqliteStore(of) : postgresStore(of),
  endpoints: { crm: { url: settings.hook, allowPrivate: true, secret: `whsec_${"A".repeat(44)}` } },
});
await andante.ready();
process.stdout.write("ready\n");
for (let count = 0; count < settings.executions; count++) {
  const { executionId } = await andante.execute("asks", {});
  await andante.resume("asks", executionId, "yes");
}
process.stdout.write("ended\n");
