// Extends the lease of one incarnation of a process.
import type { DatabaseSync } from "node:sqlite";

export function heartbeat(database: DatabaseSync) {
  const upsert = database.prepare(
    "insert into owners (owner, expires_at) values (?, ?) on conflict (owner) do update set expires_at = excluded.expires_at",
  );
  return ({ owner, lease }: { owner: string; lease: number }): void => {
    upsert.run(owner, Date.now() + lease);
  };
}
