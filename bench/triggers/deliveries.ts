// Deliveries that are due at once, those that are due later, and the cost of keeping them.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Andante, createAndante, createLogger, createWorkflow, type Store } from "@andante/core";
import { z } from "zod";
import { throughput } from "../measure.ts";
import type { Budget } from "../results.ts";
import { atLeast } from "../slowness.ts";
import { copyRows, type Filled } from "./copies.ts";

const ends = createWorkflow({ id: "ends", input: z.object({}), search: false }).andThen({
  id: "run",
  execute: () => null,
});
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** `answers`: a receiver that does not, holds every request. */
async function receiver(answers = true) {
  const ids = new Set<string>();
  const sockets = { now: 0, most: 0 };
  const server = createServer((request, response) => {
    ids.add(String(request.headers["webhook-id"]));
    request.resume();
    if (answers) response.writeHead(204).end();
  });
  server.on("connection", (socket) => {
    sockets.now++;
    sockets.most = Math.max(sockets.most, sockets.now);
    socket.on("close", () => {
      sockets.now--;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { ids, sockets, url: `http://127.0.0.1:${port}/`, close };
}

/** The machine's clock, which counts the alarms that are set. */
function countingClock() {
  const alarms = { set: 0 };
  const at = (time: number, _: "sleep" | "limit", callback: () => void) => {
    alarms.set++;
    const end = () => {
      alarms.set--;
    };
    const timer = setTimeout(
      () => {
        end();
        callback();
      },
      Math.min(2 ** 31 - 1, Math.max(0, time - Date.now())),
    );
    timer.unref();
    let isOver = false;
    return () => {
      if (!isOver) end();
      isOver = true;
      clearTimeout(timer);
    };
  };
  return { alarms, clock: { now: () => Date.now(), at } };
}

type Counting = ReturnType<typeof countingClock>["clock"];

function open(store: Store, url: string | undefined, clock?: Counting): Andante {
  return createAndante({
    ...{ workflows: { ends }, store, tracing: false, logger: createLogger({ level: "silent" }) },
    ...(url !== undefined && {
      endpoints: { crm: { url, secret, allowPrivate: true, on: ["execution.ended"] } },
    }),
    ...(clock && { clock }),
  });
}

/** Deliveries of as many executions, all due at this time. */
export async function fillDeliveries(
  store: Store,
  openFilled: () => Filled | Promise<Filled>,
  { count, dueAt }: { readonly count: number; readonly dueAt: number },
): Promise<void> {
  const held = await receiver(false);
  const andante = open(store, held.url);
  await andante.ready();
  await andante.execute("ends", {}, { executionId: "template" });
  const [first] = (await andante.deliveries.list()).deliveries;
  await andante.close({ grace: 0 });
  held.close();
  const filled = await openFilled();
  const texts = { [first?.messageId ?? ""]: "msg_{n}", template: "copy-{n}" };
  await copyRows(filled, {
    ...{ table: "schedules", where: "kind = 'delivery'", count, texts },
    columns: { due_at: String(dueAt) },
  });
  await filled.run("delete from schedules where schedule_id like '%/template/%'");
  if (filled.dialect === "postgres") await filled.run("analyze");
  await filled.close();
}

export async function deliveries(
  stores: { readonly due: Store; readonly later: Store; readonly empty: () => Store },
  { name, count }: { readonly name: string; readonly count: number },
): Promise<Budget[]> {
  const at = await receiver();
  const andante = open(stores.due, at.url);
  const begun = performance.now();
  await andante.ready();
  while (at.ids.size < count) await wait(10);
  const rate = count / ((performance.now() - begun) / 1000);
  await andante.settled();
  await andante.close({ grace: 0 });
  at.close();
  const alarms = { none: await alarmsOf(stores.empty()), many: await alarmsOf(stores.later) };
  const held = await receiver(false);
  const rates: number[] = [];
  for (const url of [undefined, held.url]) {
    const one = open(stores.empty(), url);
    await one.ready();
    rates.push(await throughput(3000, 50, () => one.execute("ends", {})));
    await one.close({ grace: 0 });
  }
  held.close();
  const [without = 0, withOutbox = 0] = rates;
  return [
    {
      name: `deliveries in a second on ${name}`,
      value: rate.toFixed(0),
      ...atLeast(rate, 200),
      note: `${count} that were due at once`,
    },
    {
      name: `sockets to an endpoint meanwhile on ${name}`,
      value: `${at.sockets.most} at most`,
      budget: "at most 64",
      held: at.sockets.most <= 64,
    },
    {
      name: `alarms of ${count} deliveries that are due in an hour, on ${name}`,
      value: `${alarms.many}, with none ${alarms.none}`,
      budget: "at most one more",
      held: alarms.many <= alarms.none + 1,
    },
    {
      name: `executions whose end is kept for an endpoint, on ${name}`,
      value: `${((withOutbox / without) * 100).toFixed(0)} % of the rate without endpoints`,
      budget: "at least 40 %",
      held: withOutbox >= without * 0.4,
      note: `${withOutbox.toFixed(0)} in a second, one step, 50 at once; the endpoint holds its requests`,
    },
  ];
}

/** Alarms that an idle process has set. */
async function alarmsOf(store: Store): Promise<number> {
  const { alarms, clock } = countingClock();
  const andante = open(store, "http://127.0.0.1:9/", clock);
  await andante.ready();
  await andante.settled();
  await wait(500);
  const { set } = alarms;
  await andante.close({ grace: 0 });
  return set;
}
