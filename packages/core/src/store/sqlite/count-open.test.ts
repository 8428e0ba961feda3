// How many executions are open in a file that another store is used in place of.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commitOf, event, execution } from "../../store-cases/store-cases.ts";
import { countOpenExecutions } from "./count-open.ts";
import { sqliteStore } from "./sqlite-store.ts";

function newFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-count-open-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return path.join(folder, "test.db");
}

test("there are none where there is no file, or no database of ours", async () => {
  const file = newFile();
  expect(await countOpenExecutions(file)).toBe(0);
  writeFileSync(file, "");
  expect(await countOpenExecutions(file)).toBe(0);
  writeFileSync(file, "this is not a database, however long it may be".repeat(100));
  expect(await countOpenExecutions(file)).toBe(0);
});

test("those that have not ended are counted", async () => {
  const file = newFile();
  const store = sqliteStore({ path: file });
  await store.open();
  const [open, ended] = [execution(), execution()];
  for (const each of [open, execution(), ended]) await store.create(each);
  const end = { status: "completed", result: null, error: null } as const;
  await store.commit(commitOf(ended.executionId, { events: [event("workflow-complete")], end }));
  await store.close();
  expect(await countOpenExecutions(file)).toBe(2);
});
