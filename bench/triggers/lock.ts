// The lock for the key of an event on PostgreSQL: the statements of a sender with it and without it, on a thousand keys.
import { randomUUID } from "node:crypto";
import pg from "pg";
import { median, throughput } from "../measure.ts";
import type { Budget } from "../results.ts";

const keys = 1000;

export async function keyLock(url: string, count: number): Promise<Budget> {
  const pool = new pg.Pool({ connectionString: url, max: 16 });
  await pool.query("create table sent (id text primary key, key text, data text)");
  const send = async (index: number, isLocked: boolean) => {
    const client = await pool.connect();
    const key = index % keys;
    try {
      await client.query("begin");
      if (isLocked) await client.query("select pg_advisory_xact_lock($1)", [key]);
      await client.query("select 1 from sent where id = $1", [randomUUID()]);
      await client.query("insert into sent values ($1, $2, '{}')", [randomUUID(), String(key)]);
      await client.query("commit");
    } finally {
      client.release();
    }
  };
  const ratios: number[] = [];
  for (let round = 0; round < 5; round++) {
    const without = await throughput(count, 16, (index) => send(index, false));
    const locked = await throughput(count, 16, (index) => send(index, true));
    ratios.push(1 - locked / without);
  }
  await pool.end();
  const cost = median(ratios) * 100;
  return {
    name: `the lock for the key of an event on PostgreSQL, with ${keys} keys`,
    value: `${cost.toFixed(0)} % of the transactions in a second`,
    budget: "at most 10 %",
    held: cost <= 10,
    note: "a transaction of four statements with a fifth for the lock, 16 at once, the median of 5 rounds",
  };
}
