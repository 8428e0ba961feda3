// A part of a start, for the benchmark of starts: prints the time it took. Arguments: part, database file.
const [part, path = ""] = process.argv.slice(2);

/** Each includes the parts before it; "file" starts the store's thread in place of the idle one. */
const parts = {
  node: () => undefined,
  "zod, Hono and its listener": () =>
    Promise.all([import("zod"), import("hono"), import("@hono/node-server")]),
  "and the AI SDK": async () => {
    await parts["zod, Hono and its listener"]();
    await import("ai");
  },
  "and Andante's packages in place of the AI SDK": async () => {
    await parts["zod, Hono and its listener"]();
    await Promise.all([import("@andante/core"), import("@andante/server")]);
  },
  "and a thread that does nothing": async () => {
    await parts["and Andante's packages in place of the AI SDK"]();
    const { Worker } = await import("node:worker_threads");
    const thread = new Worker("", { eval: true });
    await new Promise((resolve) => thread.once("online", resolve));
  },
  "and a new database file on its thread": async () => {
    await parts["and Andante's packages in place of the AI SDK"]();
    const { sqliteStore } = await import("@andante/core");
    await sqliteStore({ path }).open();
  },
};

await parts[part]();
const { user, system } = process.cpuUsage();
const took = { time: performance.now(), cpu: (user + system) / 1000 };
process.stdout.write(JSON.stringify(took), () => process.exit());
