// The index of values in a file: it continues after a crash, and excluded values never enter it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { reads, writes } from "../../src/store/sqlite/operations/index.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { execution } from "../../src/store-cases/store-cases.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-search-"));
afterAll(() => rmSync(folder, { recursive: true }));

const events = { suspension: "step-suspended", state: "state-changed" };
const searchOf = (store: Store) => {
  if (store.search === undefined) throw new TypeError("the store has no index of values");
  return store.search;
};

test("a process that ends between two batches leaves nothing out, and rows that joined meanwhile are found", async () => {
  const file = path.join(folder, "batches.db");
  const first = sqliteStore({ path: file });
  await first.open();
  for (let startAt = 100; startAt < 105; startAt++)
    await first.create(execution({ startAt, input: '"crash-1"' }));
  expect(await searchOf(first).index({ limit: 2, events })).toEqual({ more: true });
  await first.close();
  const second = sqliteStore({ path: file });
  await second.open();
  // Behind the place that the first process has reached.
  await second.create(execution({ startAt: 1, input: '"crash-2"' }));
  while ((await searchOf(second).index({ limit: 2, events })).more);
  const { found } = await searchOf(second).find({ text: "crash-", limit: 10 });
  expect(found.map(({ execution: { startAt } }) => startAt)).toEqual([104, 103, 102, 101, 100, 1]);
  await second.close();
});

test("an excluded value and a secret are in no table of the index", async () => {
  const file = path.join(folder, "excluded.db");
  const store = sqliteStore({ path: file });
  await store.open();
  const search = searchOf(store);
  await search.define([{ workflowId: "publish", exclude: ["input.card"] }]);
  const input = { card: ["card-4111"], password: "word-4111", name: "open-4111" };
  await store.create(execution({ input: JSON.stringify(input) }));
  while ((await search.index({ limit: 10, events })).more);
  expect((await search.find({ text: "open-4111", limit: 10 })).found).toHaveLength(1);
  await store.close();
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = ["search_values", "search_entries"].flatMap((table) =>
    database.prepare(`select * from ${table}`).all(),
  );
  database.close();
  expect(JSON.stringify(rows)).toContain("open-4111");
  expect(JSON.stringify(rows)).not.toMatch(/card-4111|word-4111/);
});

test("a search stops after a bounded number of entries and reports it; values of other users cost one user nothing", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database);
  const { create } = writes(database);
  const made = execution({ userId: "ann", startAt: 1 });
  create(made);
  database.exec(`
    with recursive number(n) as (select 1 union all select n + 1 from number where n < 6000)
    insert into search_values (value, start_at, execution_id, path, user_id)
      select 'order-' || n, n, 'e-' || n, 'input', 'bob' from number;
    insert into search_values values ('order-x', 1, '${made.executionId}', 'input', 'ann')`);
  const { findValues } = reads(database);
  const idsOf = (userId?: string) => {
    const { found, complete } = findValues({ text: "order-", userId, limit: 10 });
    return [found.map(({ execution: { executionId } }) => executionId), complete];
  };
  expect(idsOf()).toEqual([[], false]);
  expect(idsOf("ann")).toEqual([[made.executionId], true]);
  database.close();
});
