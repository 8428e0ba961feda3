// Returns pages that deletions have left to the disk, a bounded number at a time.
import type { DatabaseSync } from "node:sqlite";

const incremental = 2;

/** This share of the file may stay free: space freed today is reused tomorrow. */
const keptFree = 0.1;

export function compact(database: DatabaseSync) {
  const pragma = (name: string) => {
    const statement = database.prepare(`pragma ${name}`);
    return () => Number(Object.values(statement.get() ?? {})[0] ?? 0);
  };
  const mode = pragma("auto_vacuum");
  const pageSize = pragma("page_size");
  const pages = pragma("page_count");
  const free = pragma("freelist_count");
  return ({ bytes }: { bytes: number }): { more: boolean } => {
    // A file that was made from a text dump has lost the setting and cannot shrink in parts.
    if (mode() !== incremental) return { more: false };
    const tooMany = free() - Math.ceil(pages() * keptFree);
    if (tooMany <= 0) return { more: false };
    const count = Math.max(1, Math.min(tooMany, Math.floor(bytes / pageSize())));
    database.exec(`pragma incremental_vacuum(${count})`);
    return { more: tooMany > count };
  };
}
