// A node with many schedules that fire every second, on PostgreSQL. Arguments: address, schema, lease, number of schedules, and
// whether it loses executions.
import { createAndante, createLogger, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { z } from "zod";

process.once("disconnect", () => process.exit());
const [url = "", schema = "", lease = "2000", count = "0", loses = "false"] = process.argv.slice(2);
// Where all nodes are late, no time may be left out, and one that takes long may not hold up the next.
const everySecond = { every: "1s", catchUp: "all", overlap: "allow", input: {} } as const;
const schedules = Object.fromEntries(
  Array.from({ length: Number(count) }, (_, index) => [`s${index}`, everySecond]),
);
const tick = createWorkflow({ id: "tick", input: z.object({}), search: false, schedules }).andThen({
  id: "run",
  execute: () => null,
});
const store = postgresStore({ url, schema, lease: Number(lease) });
let fired = 0;
/** Every hundredth change of a schedule is written without its execution. */
const losing = {
  ...store,
  schedules: {
    ...store.schedules,
    change: ({ create, ...change }: Parameters<typeof store.schedules.change>[0]) => {
      const isLost = create !== undefined && ++fired % 100 === 0;
      return store.schedules.change({ ...change, ...(create && !isLost && { create }) });
    },
  },
};
const andante = createAndante({
  workflows: { tick },
  store: loses === "true" ? losing : store,
  logger: createLogger({ level: "silent" }),
  tracing: false,
});
await andante.ready();
process.send?.({ url: "" });
