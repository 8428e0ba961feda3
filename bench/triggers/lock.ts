// The locks for the keys of events on PostgreSQL: the store's own operation with them and without them, on a thousand keys.
import { randomUUID } from "node:crypto";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { Readers } from "../../packages/postgres/src/connection/readers.ts";
import { Servers } from "../../packages/postgres/src/connection/servers.ts";
import { signals } from "../../packages/postgres/src/operations/signals.ts";
import { addressesIn, readOptions } from "../../packages/postgres/src/options.ts";
import { median, throughput } from "../measure.ts";
import type { Budget } from "../results.ts";

const keys = 1000;
const rounds = 15;

export async function keyLock(url: string, count: number): Promise<Budget> {
  const schema = "locked";
  const store = postgresStore({ url, schema });
  await store.open();
  const settings = readOptions({ url, schema });
  const servers = new Servers(addressesIn(url), settings.connectTimeout);
  const readers = new Readers({ ...settings, servers }, settings.readers, { idle: 5_000, lock: 5_000 });
  const unlocked: Pick<Readers, "write" | "read" | "search" | "forCallers"> = {
    read: (...asked) => readers.read(...asked),
    search: (...asked) => readers.search(...asked),
    forCallers: (read) => read,
    write: (operation, work) => readers.write(operation, work),
  };
  const s = pg.escapeIdentifier(schema);
  const [locked, without] = [signals(readers, s), signals(unlocked, s)];
  const rateOf = (to: typeof locked) =>
    throughput(count, 50, async (index) => {
      const signal = { signalId: randomUUID(), scope: "", name: "sent", key: `${index % keys}`, data: "{}" };
      const by = { userId: null, sentBy: null, sentAt: Date.now() };
      await to.send([{ ...signal, ...by, starts: [], dueAt: Date.now() }]);
    });
  await rateOf(locked);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++)
    ratios.push(1 - (await rateOf(locked)) / (await rateOf(without)));
  await readers.close();
  await store.close();
  const cost = median(ratios) * 100;
  return {
    name: `the locks for the keys of events on PostgreSQL, with ${keys} keys`,
    value: `${cost.toFixed(0)} % of the events in a second`,
    budget: "at most 10 %",
    held: cost <= 10,
    note: `the store's operation with its locks and without, 50 senders, the median of ${rounds} rounds`,
  };
}
