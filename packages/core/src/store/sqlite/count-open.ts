// Counts unfinished executions in a database file that another store replaces. Nothing is written to it.
import { existsSync } from "node:fs";

/** 0 also when there is no such file, or it is not a database of ours: opening it for use reports the fault. */
export async function countOpenExecutions(path: string): Promise<number> {
  if (!existsSync(path)) return 0;
  const { DatabaseSync } = await import("node:sqlite");
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const row = database.prepare("select count(*) as open from executions where end_at is null").get();
      return Number(row?.open ?? 0);
    } finally {
      database.close();
    }
  } catch {
    return 0;
  }
}
