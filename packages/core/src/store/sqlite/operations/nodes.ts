// Lists the processes that use the store, with the number of their executions.
import type { DatabaseSync } from "node:sqlite";
import type { StoreNodes } from "../../store.ts";
import { integer, nullableText, text } from "../columns.ts";
import { leaseTime } from "./heartbeat.ts";

export function nodes(database: DatabaseSync) {
  const work =
    "from executions indexed by executions_with_work where idle = 0 and end_at is null and parked is null";
  const select = database.prepare(
    `select owners.owner, about, expires_at > ? as alive, coalesce(claimed, 0) as executions from owners
     left join (select owner, count(*) as claimed ${work} group by owner) as work on work.owner = owners.owner
     where alive or claimed > 0 order by alive desc, owners.owner limit 200`,
  );
  const unowned = database.prepare(`select count(*) as executions ${work} and owner is null`);
  return (): StoreNodes => ({
    nodes: select.all(leaseTime()).map((row) => ({
      owner: text(row, "owner"),
      about: nullableText(row, "about"),
      isAlive: integer(row, "alive") === 1,
      executions: integer(row, "executions"),
    })),
    unowned: integer(unowned.get() ?? {}, "executions"),
  });
}
