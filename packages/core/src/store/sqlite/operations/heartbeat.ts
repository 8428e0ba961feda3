// Extends the lease of one incarnation of a process, by a clock that cannot be set.
import type { DatabaseSync } from "node:sqlite";
import type { Store } from "../../store.ts";

/**
 * Milliseconds that all threads of this process count alike. By the machine's clock the leases of running executions
 * would end when it is set ahead. The leases of earlier processes end when the file is opened.
 */
export function leaseTime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

export function heartbeat(database: DatabaseSync) {
  const upsert = database.prepare(
    `insert into owners (owner, expires_at, about) values (?, ?, ?) on conflict (owner)
     do update set expires_at = excluded.expires_at, about = coalesce(excluded.about, about)`,
  );
  return ({ owner, lease, about }: Parameters<Store["heartbeat"]>[0]): void => {
    upsert.run(owner, leaseTime() + lease, about ?? null);
  };
}
