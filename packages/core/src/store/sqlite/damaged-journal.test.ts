// A journal whose values refer to later events, or that lacks one: an error with its number, and no read without an end.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { commitOf, event, execution } from "../../store-cases/store-cases.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-damaged-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

/** A store with one execution of four events in four rows, after this change to its file. */
async function storeAfter(change: (database: DatabaseSync) => void) {
  const store = sqliteStore({ path: path.join(folder, `${++files}.db`) });
  await store.open();
  const { executionId, ...made } = execution();
  await store.create({ ...made, executionId });
  for (const type of ["a", "b"]) await store.commit(commitOf(executionId, { events: [event(type)] }));
  const following = [event("workflow-complete", { value: JSON.stringify("r".repeat(500)) })];
  const end = { status: "completed", result: { sameAs: -1 }, error: null } as const;
  await store.commit(commitOf(executionId, { following, end }));
  await store.close();
  const database = new DatabaseSync(path.join(folder, `${files}.db`));
  change(database);
  database.close();
  await store.open();
  return { store, executionId };
}

const rowOf = (value: number) => JSON.stringify([["c", 1, null, null, null, value, null]]);

test.each([4, 5, -1])(
  "a value that refers to event %d from event 4 is an error with its number",
  async (place) => {
    const { store, executionId } = await storeAfter((database) => {
      database.prepare("update journal set events = ? where sequence = 4").run(rowOf(place));
    });
    const damaged = { code: "journal-damaged", message: expect.stringContaining("damaged at event 4") };
    await expect(store.events({ executionId, after: 0, limit: 10 })).rejects.toMatchObject(damaged);
    await expect(store.state(executionId)).rejects.toMatchObject(damaged);
    await store.close();
  },
);

test("one that refers to an event before it is read, one that refers to a missing event is an error", async () => {
  const { store, executionId } = await storeAfter((database) => {
    database.prepare("update journal set events = ? where sequence = 4").run(rowOf(3));
  });
  expect((await store.state(executionId))?.execution.result).toBeNull();
  await store.close();
  const gap = await storeAfter((database) => {
    database.prepare("update journal set events = ? where sequence = 4").run(rowOf(3));
    database.exec("delete from journal where sequence = 3");
  });
  await expect(gap.store.state(gap.executionId)).rejects.toMatchObject({
    code: "journal-damaged",
    message: "The journal is damaged at event 3: it is missing",
  });
  await gap.store.close();
});

test("a row that is not a list of events is an error with its number", async () => {
  const { store, executionId } = await storeAfter((database) => {
    database.exec("update journal set events = '[[\"a\",null]]' where sequence = 2");
  });
  await expect(store.events({ executionId, after: 0, limit: 10 })).rejects.toMatchObject({
    message: "The journal is damaged at event 2: its row is not a list of events",
  });
  await store.close();
});

test("a row that is not JSON is an error with its number", async () => {
  const { store, executionId } = await storeAfter((database) => {
    database.exec("update journal set events = substr(events, 1, 9) where sequence = 2");
  });
  await expect(store.events({ executionId, after: 0, limit: 10 })).rejects.toMatchObject({
    message: "The journal is damaged at event 2: its row is not JSON",
  });
  await store.close();
});

test("a crash is counted after the file is opened again, and so is the next one", async () => {
  const file = path.join(folder, "crashes.db");
  for (const [life, recoveries] of [
    ["first", undefined],
    ["second", 1],
    ["third", 2],
  ] as const) {
    const store = sqliteStore({ path: file });
    await store.open();
    await store.heartbeat({ owner: life, lease: 60_000 });
    if (recoveries === undefined) await store.create(execution({ claim: { owner: life, token: life } }));
    else {
      const query = { owner: life, key: life, workflowIds: ["publish"], suspects: false, suspectAfter: 9 };
      const found = await store.claimAbandoned({ ...query, limit: 1 });
      expect(found).toMatchObject([{ row: { recoveries } }]);
    }
    await store.close();
  }
});
