// Measures schedules (their next times, a hundred thousand of them, many that are due at once, their lateness), events among a
// million waiters, deliveries, receivers and links.
import path from "node:path";
import { sqliteStore } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { inTemporaryFolder } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { postgresSchema, sqliteFile } from "./copies.ts";
import { deliveries, fillDeliveries } from "./deliveries.ts";
import { fillPostgres, fillSqlite } from "./fill.ts";
import { firing, idleLateness, latenessOfPoll } from "./firing.ts";
import { keyLock } from "./lock.ts";
import { manySchedules } from "./many.ts";
import { nextTimes } from "./next-times.ts";
import { requests } from "./requests.ts";
import { fanOut, fillWaiters, oneOfMany } from "./waiters.ts";

const many = paced({ quick: 10_000, short: 100_000, full: 100_000 });
const atOnce = paced({ quick: 2000, short: 20_000, full: 20_000 });
const seconds = paced({ quick: 5, short: 20, full: 60 });
const waiters = paced({ quick: 20_000, short: 1_000_000, full: 1_000_000 });
const everyone = paced({ quick: 2000, short: 100_000, full: 100_000 });
const woken = paced({ quick: 100, short: 500, full: 500 });
const sent = paced({ quick: 1000, short: 10_000, full: 10_000 });
const requested = paced({ quick: 200, short: 1000, full: 1000 });
const minute = 60_000;

async function onSqlite(folder: string): Promise<Budget[]> {
  const open = (name: string) => sqliteStore({ path: path.join(folder, name) });
  const dueAt = () => Date.now() - minute / 2;
  await fillSqlite(path.join(folder, "due.db"), open("due.db"), { count: atOnce, dueAt });
  const stores = { due: open("due.db"), empty: open("empty.db") };
  return [
    ...(await firing(stores, { name: "SQLite", count: atOnce, perSecond: 2000 })),
    await idleLateness(open("idle.db"), "SQLite", seconds),
    ...(await eventsOnSqlite(folder)),
    ...(await deliveriesOnSqlite(folder)),
    ...(await requests(open("requests.db"), requested)),
  ];
}

async function eventsOnSqlite(folder: string): Promise<Budget[]> {
  const fileOf = (name: string) => path.join(folder, name);
  const open = (name: string) => sqliteStore({ path: fileOf(name) });
  const fill = (name: string, workflowId: "takesOwn" | "takesAny", count: number, complete: number) =>
    fillWaiters(open(name), () => sqliteFile(fileOf(name)), { workflowId, count, complete });
  await fill("waiters.db", "takesOwn", waiters, woken);
  await fill("everyone.db", "takesAny", everyone, everyone);
  const files = [fileOf("waiters.db"), fileOf("no-waiters.db")] as const;
  const stores = { many: open("waiters.db"), empty: open("no-waiters.db"), files };
  return [
    ...(await oneOfMany(stores, { name: "SQLite", count: waiters, woken, perSecond: 4000 })),
    ...(await fanOut(open("everyone.db"), { name: "SQLite", count: everyone, perSecond: 3000 })),
  ];
}

async function deliveriesOnSqlite(folder: string): Promise<Budget[]> {
  const fileOf = (name: string) => path.join(folder, name);
  const open = (name: string) => sqliteStore({ path: fileOf(name) });
  for (const [name, dueAt] of [
    ["sent.db", Date.now()],
    ["later.db", Date.now() + 60 * minute],
  ] as const)
    await fillDeliveries(open(name), () => sqliteFile(fileOf(name)), { count: sent, dueAt });
  const stores = { due: open("sent.db"), later: open("later.db"), empty: () => open("none-sent.db") };
  return deliveries(stores, { name: "SQLite", count: sent });
}

async function eventsOnPostgres(url: string): Promise<Budget[]> {
  const open = (schema: string) => postgresStore({ url, schema });
  const fill = (schema: string, workflowId: "takesOwn" | "takesAny", count: number, complete: number) =>
    fillWaiters(open(schema), () => postgresSchema(url, schema), { workflowId, count, complete });
  await fill("waiters", "takesOwn", waiters, woken);
  await fill("everyone", "takesAny", everyone, everyone);
  const stores = { many: open("waiters"), empty: open("no_waiters") };
  return [
    ...(await oneOfMany(stores, { name: "PostgreSQL", count: waiters, woken, perSecond: undefined })),
    ...(await fanOut(open("everyone"), { name: "PostgreSQL", count: everyone, perSecond: 500 })),
    await keyLock(url, sent),
  ];
}

async function deliveriesOnPostgres(url: string): Promise<Budget[]> {
  const open = (schema: string) => postgresStore({ url, schema });
  for (const [schema, dueAt] of [
    ["sent", Date.now()],
    ["later", Date.now() + 60 * minute],
  ] as const)
    await fillDeliveries(open(schema), () => postgresSchema(url, schema), { count: sent, dueAt });
  return deliveries(
    { due: open("sent"), later: open("later"), empty: () => open("none_sent") },
    { name: "PostgreSQL", count: sent },
  );
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
      await latenessOfPoll(() => open("poll"), 5),
      ...(await eventsOnPostgres(url)),
      ...(await deliveriesOnPostgres(url)),
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
