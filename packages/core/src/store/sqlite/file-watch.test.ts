// Whether the file is still the one that was opened, and has room: on this thread, as a database thread asks it.
import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { FileWatch } from "./file-watch.ts";

function watched(maxPages?: number) {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-watch-"));
  const file = path.join(folder, "test.db");
  const database = new DatabaseSync(file);
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  database.exec("pragma journal_mode = wal; create table t (x)");
  if (maxPages !== undefined) database.exec(`pragma max_page_count = ${maxPages}`);
  return { file, database, watch: new FileWatch(database, file) };
}

test("nothing is wrong with a file that is as it was, and its size is that of the file and its log", () => {
  const { file, database, watch } = watched();
  database.exec("insert into t values (1)");
  expect(watch.problem()).toBeNull();
  expect(watch.bytes()).toBe(statSync(file).size + statSync(`${file}-wal`).size);
});

test.each(["", "-wal"])("a removed file (%s) is distinguished from a replaced one", (ending) => {
  const { file, watch } = watched();
  renameSync(`${file}${ending}`, `${file}.old`);
  expect(watch.problem()).toBe("the database file was removed while it is open");
  writeFileSync(`${file}${ending}`, "");
  expect(watch.problem()).toBe("the database file was replaced while it is open");
  renameSync(`${file}.old`, `${file}${ending}`);
  expect(watch.problem()).toBeNull();
});

test("a file with fewer than 16 pages left within its limit is full; pages that are free again count", () => {
  const { database, watch } = watched(40);
  const full = "the disk, or the database file within its limit, is full";
  expect(watch.problem()).toBeNull();
  database.exec(`insert into t values (zeroblob(${30 * 4096}))`);
  expect(watch.problem()).toBe(full);
  database.exec("delete from t");
  expect(watch.problem()).toBeNull();
});

test("a database in memory has no file", () => {
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => database.close());
  const watch = new FileWatch(database, ":memory:");
  expect([watch.problem(), watch.bytes()]).toEqual([null, null]);
});
