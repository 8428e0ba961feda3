// A hundred thousand schedules of users: the query for due times, the memory, and a start.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { sqliteStore } from "@andante/core";
import { median } from "../measure.ts";
import type { Budget } from "../results.ts";
import { atMost } from "../slowness.ts";
import { fillSqlite } from "./fill.ts";

const hour = 3_600_000;

export async function manySchedules(folder: string, count: number): Promise<Budget[]> {
  const file = path.join(folder, "many.db");
  const later = Date.now() + hour;
  const dueAt = (index: number) => later + index;
  await fillSqlite(file, sqliteStore({ path: file }), { count, dueAt });
  const store = sqliteStore({ path: file });
  await store.open();
  const queries: number[] = [];
  for (let run = 0; run < 200; run++) {
    const begun = performance.now();
    await store.due({ workflowIds: ["tick"], limit: 200 });
    queries.push(performance.now() - begun);
  }
  await store.close();
  const pairs = Array.from({ length: 7 }, () => [idle(file), idle(path.join(folder, "none.db"))] as const);
  const memory = median(pairs.map(([full, empty]) => full.memory - empty.memory));
  const longer = median(pairs.map(([full, empty]) => full.start - empty.start));
  return [
    {
      name: `the query for what is due among ${count} schedules, 200 rows`,
      value: `${median(queries).toFixed(2)} ms`,
      ...atMost(median(queries), 2, "ms"),
    },
    {
      name: `memory of a process with ${count} schedules`,
      value: `${memory.toFixed(0)} MB more`,
      budget: "within 20 MB of none",
      held: memory <= 20,
    },
    {
      name: `a start with ${count} unchanged schedules`,
      value: `${longer.toFixed(0)} ms longer`,
      ...atMost(longer, 50, "ms longer than with none"),
      note: `${median(pairs.map(([full]) => full.start)).toFixed(0)} ms; the median of ${pairs.length} pairs`,
    },
  ];
}

/** A process that does nothing: milliseconds of its start, and megabytes. */
function idle(file: string): { readonly start: number; readonly memory: number } {
  const script = path.join(import.meta.dirname, "idle.ts");
  const args = ["--conditions=andante-source", "--expose-gc", script, file];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
