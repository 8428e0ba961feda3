// Whether an owner's lease still lasts.
import type { DatabaseSync } from "node:sqlite";

export function isAlive(database: DatabaseSync) {
  const select = database.prepare("select 1 from owners where owner = ? and expires_at > ?");
  return (owner: string | null): boolean => owner !== null && select.get(owner, Date.now()) !== undefined;
}
