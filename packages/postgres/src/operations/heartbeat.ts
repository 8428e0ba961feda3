// Extends the lease of one incarnation of a process, by the clock of the database.
import { StoreUnavailableError } from "@andante/core/errors";
import { steadyTime } from "@andante/core/internal";
import type { Store } from "@andante/core/store";
import { begin } from "../connection/client.ts";
import type { Connection } from "../connection/connection.ts";
import type { DatabaseClock } from "../connection/database-clock.ts";
import { problemOf } from "../connection/trouble.ts";
import { withWork } from "./claim-abandoned.ts";

/** Leases that ended so long ago are forgotten, unless claims of their owners are left: recovering those counts as a crash. */
const kept = "1 hour";
/** One heartbeat of so many forgets them. */
const sweepEvery = 100;

/** Milliseconds that the database goes back when it has failed over; less is a correction. */
const failedOver = 1_000;

/** On a connection of its own, so that a slow group never delays it. `sawOthers`: there are other processes. */
export function heartbeat(connection: Connection, s: string, clock: DatabaseClock, sawOthers: () => void) {
  const upsert = `with beat as (
      insert into ${s}.owners (owner, expires_at, about)
      values ($1, clock_timestamp() + $2 * interval '1 millisecond', $3)
      on conflict (owner) do update
      set expires_at = excluded.expires_at, about = coalesce(excluded.about, owners.about))
    select exists (select from ${s}.owners where owner <> $1 and expires_at > clock_timestamp()) as others,
      extract(epoch from clock_timestamp())::float8 * 1000 as now`;
  const sweep = `delete from ${s}.owners where expires_at < clock_timestamp() - interval '${kept}' and owner <> $1
    and not exists (select from ${s}.executions where ${withWork} and executions.owner = owners.owner)`;
  // Leases by the clock of a database that has failed over would end as much later as that was ahead. Those of processes
  // that live are set by their next beats; as far as that is known, others get twice the time that this one would have.
  const shorten = `update ${s}.owners set expires_at = clock_timestamp() + $2 * interval '2 milliseconds'
    where owner <> $1 and expires_at > clock_timestamp() + $2 * interval '2 milliseconds'`;
  let beats = 0;
  const beat = async ({ owner, lease, about }: Parameters<Store["heartbeat"]>[0]) => {
    const query = await connection.query();
    // A transaction of its own in one round trip.
    const write = async (statement: string, values: readonly unknown[]) => {
      const [, result] = await Promise.all([query(begin), query(statement, values), query("commit")]);
      return result;
    };
    const sent = steadyTime();
    const { rows } = await write(upsert, [owner, lease, about ?? null]);
    const wentBack = clock.adjust(Number(rows[0]?.now), sent, steadyTime());
    if (wentBack > failedOver) await write(shorten, [owner, lease]);
    if (rows[0]?.others === true) sawOthers();
    if (beats++ % sweepEvery === 0) await write(sweep, [owner]);
  };
  return async (argument: Parameters<Store["heartbeat"]>[0]): Promise<void> => {
    try {
      await beat(argument);
    } catch {
      // The connection may have been lost while nothing ran on it: a new one decides.
      connection.drop();
      await beat(argument).catch((error: unknown) => {
        connection.drop();
        throw new StoreUnavailableError({ cause: new Error(problemOf(error), { cause: error }) });
      });
    }
  };
}
