// Rows that are longer together than one string can be (536 870 888 characters in V8) end no thread.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StoreRefusedError } from "../../src/errors/index.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { event, execution } from "../../src/store-cases/store-cases.ts";

const textOf = (length: number) => JSON.stringify("x".repeat(length - 2));
const million = 1_000_000;

async function open() {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-limit-"));
  const store = sqliteStore({ path: path.join(folder, "test.db") });
  await store.open();
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

test("many reads of a large state", { timeout: 180_000 }, async () => {
  const store = await open();
  await store.create(execution({ executionId: "large", input: textOf(30 * million) }));
  const reads = Array.from({ length: 20 }, async () => (await store.state("large"))?.execution.sequence);
  expect(await Promise.all(reads)).toEqual(reads.map(() => 1));
});

test("a call: it fails alone", { timeout: 180_000 }, async () => {
  const store = await open();
  const value = textOf(300 * million);
  const events = [event("a", { value }), event("b", { value })];
  const [long, short] = await Promise.allSettled([
    store.create(execution({ executionId: "long", events })),
    store.create(execution({ executionId: "short" })),
  ]);
  expect(Object(long).reason).toBeInstanceOf(StoreRefusedError);
  expect(short.status).toBe("fulfilled");
});
