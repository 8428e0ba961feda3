// New files shrink after deletions, in small bites; old ones by the documented command.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { createAndante } from "../../src/andante/create-andante.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { commitOf, execution } from "../../src/store-cases/store-cases.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { flow } from "../support/test-andante.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-shrink-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sizeOf = (file: string) => statSync(file).size;
const everything = {
  upTo: { endAt: Number.MAX_SAFE_INTEGER, executionId: "\u{10ffff}" },
  limit: 1000,
  events: 10_000,
};
const bytes = 512 * 1024;

/** Puts ended executions of about 4 MB into the file and closes it; fewer of them are less. */
async function fill(file: string, count = 200): Promise<void> {
  const store = sqliteStore({ path: file });
  await store.open();
  const input = JSON.stringify("x".repeat(20_000));
  for (let n = 0; n < count; n++) {
    const executionId = `execution-${n}`;
    await store.create(execution({ executionId, input }));
    const end = { status: "completed", result: null, error: null } as const;
    await store.commit(commitOf(executionId, { end }));
  }
  await store.close();
}

/** Deletes everything and gives it back; returns how many bites that took. */
async function empty(file: string): Promise<number> {
  const store = sqliteStore({ path: file });
  await store.open();
  await store.deleteFinished(everything);
  let bites = 1;
  while ((await store.compact({ bytes })).more) bites++;
  await store.close();
  return bites;
}

test("a new file gives back the space of deleted rows, half a megabyte at a time", async () => {
  const file = path.join(folder, "new.db");
  await fill(file);
  const before = sizeOf(file);
  expect(before).toBeGreaterThan(4_000_000);
  const bites = await empty(file);
  expect(bites).toBeGreaterThan(6);
  expect(sizeOf(file)).toBeLessThan(before / 8);
});

test("free space that fits into one bite leaves nothing for another", async () => {
  const file = path.join(folder, "once.db");
  await fill(file, 20);
  const store = sqliteStore({ path: file });
  await store.open();
  await store.deleteFinished(everything);
  expect(await store.compact({ bytes: 100 * bytes })).toEqual({ more: false });
  await store.close();
});

test("retention shrinks the file by itself", async () => {
  const file = path.join(folder, "retention.db");
  await fill(file);
  const before = sizeOf(file);
  const logger = new RecordingLogger();
  const andante = createAndante({
    store: sqliteStore({ path: file }),
    workflows: { flow: flow() },
    logger,
    retention: { maxAge: 0 },
  });
  await andante.ready();
  const pages = () => {
    const database = new DatabaseSync(file, { readOnly: true });
    const count = Number(database.prepare("pragma page_count").get()?.page_count);
    database.close();
    return count * 4096;
  };
  await expect.poll(pages).toBeLessThan(before / 8);
  await andante.close();
  expect(sizeOf(file)).toBeLessThan(before / 8);
  expect(logger.messages).toEqual([]);
});

test("a file that was made from a dump stays as it is, and shrinks once it was vacuumed as documented", async () => {
  const file = path.join(folder, "old.db");
  const old = new DatabaseSync(file);
  // Such a file holds a table before the store opens it, so its setting stays.
  old.exec("create table made_before (id integer)");
  old.close();
  await fill(file);
  const before = sizeOf(file);
  expect(await empty(file)).toBe(1);
  expect(sizeOf(file)).toBeGreaterThanOrEqual(before);
  const database = new DatabaseSync(file);
  database.exec("pragma auto_vacuum = incremental; vacuum");
  database.close();
  expect(sizeOf(file)).toBeLessThan(before / 8);
  await fill(file);
  expect(await empty(file)).toBeGreaterThan(6);
  expect(sizeOf(file)).toBeLessThan(before / 8);
});
