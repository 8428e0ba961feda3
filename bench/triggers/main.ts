// Measures schedules: their next times, a hundred thousand of them, many that are due at once, and their lateness.
import path from "node:path";
import { sqliteStore } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { inTemporaryFolder } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { fillPostgres, fillSqlite } from "./fill.ts";
import { firing, idleLateness } from "./firing.ts";
import { manySchedules } from "./many.ts";
import { nextTimes } from "./next-times.ts";

const many = paced({ quick: 10_000, short: 100_000, full: 100_000 });
const atOnce = paced({ quick: 2000, short: 20_000, full: 20_000 });
const seconds = paced({ quick: 5, short: 20, full: 60 });
const minute = 60_000;

async function onSqlite(folder: string): Promise<Budget[]> {
  const open = (name: string) => sqliteStore({ path: path.join(folder, name) });
  const dueAt = () => Date.now() - minute / 2;
  await fillSqlite(path.join(folder, "due.db"), open("due.db"), { count: atOnce, dueAt });
  const stores = { due: open("due.db"), empty: open("empty.db") };
  return [
    ...(await firing(stores, { name: "SQLite", count: atOnce, perSecond: 2000 })),
    await idleLateness(open("idle.db"), "SQLite", seconds),
  ];
}

async function onPostgres(): Promise<Budget[]> {
  const server = await startPostgres({ fsync: "on" });
  const { url } = server;
  const open = (schema: string) => postgresStore({ url, schema });
  try {
    const dueAt = () => Date.now() - minute / 2;
    await fillPostgres({ url, schema: "due", store: open("due") }, { count: atOnce, dueAt });
    const stores = { due: open("due"), empty: open("empty") };
    return [
      ...(await firing(stores, { name: "PostgreSQL", count: atOnce, perSecond: 500 })),
      await idleLateness(open("idle"), "PostgreSQL", seconds),
    ];
  } finally {
    await server.remove();
  }
}

const budgets = await inTemporaryFolder(async (folder) => [
  ...nextTimes(),
  ...(await manySchedules(folder, many)),
  ...(await onSqlite(folder)),
  ...(await onPostgres()),
]);
printBudgets("Triggers", budgets);
if (isRecorded) recordBudgets("Triggers", "npm run bench:triggers", budgets);
process.exitCode = budgets.every((budget) => budget.held) ? 0 : 1;
