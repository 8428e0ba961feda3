// Reads the store of a dead process, without changing it.
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { sqliteStore } from "@andante/core";
import type { StoredEvent, StoredExecution } from "@andante/core/store";

/** An execution as a life left it. */
export interface Remains {
  readonly state: StoredExecution;
  readonly events: readonly StoredEvent[];
}

const maxEvents = 10_000;

/**
 * The executions that exist, by id. Works on a copy: opening the file itself would fold its write-ahead log in, and the
 * next life must find it as the kill left it.
 */
export async function autopsy(
  database: string,
  executionIds: readonly string[],
): Promise<Map<string, Remains>> {
  const remains = new Map<string, Remains>();
  if (!existsSync(database)) return remains;
  const folder = path.join(path.dirname(database), "autopsy");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const ending of ["", "-wal", "-journal"]) {
    if (existsSync(database + ending)) copyFileSync(database + ending, path.join(folder, `copy.db${ending}`));
  }
  const store = sqliteStore({ path: path.join(folder, "copy.db") });
  await store.open();
  try {
    for (const executionId of executionIds) {
      const state = await store.state(executionId);
      if (state === undefined) continue;
      const events = await store.events({ executionId, after: 0, limit: maxEvents });
      remains.set(executionId, { state, events });
    }
  } finally {
    await store.close();
  }
  return remains;
}
