// That a store replies at all: to an opening, to calls of every kind, to many at once, and to its end. One that does not shows
// here in words, and not as a test that takes too long.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import type { Store } from "../store.ts";
import { repeatable } from "./operation-kinds.ts";
import { memoryStore, sqliteStore } from "./sqlite-store.ts";

const reply = <T>(promise: Promise<T>): Promise<T> => inTime(promise, "a reply of the store");

const folder = mkdtempSync(path.join(tmpdir(), "andante-replies-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each<[string, () => Store]>([
  ["memory", memoryStore],
  ["a file", () => sqliteStore({ path: path.join(folder, "replies.db") })],
])("on %s", (_, make) => {
  test("a store opens, reads, writes and closes", async () => {
    const store = make();
    expect(await reply(store.open())).toBeUndefined();
    expect(await reply(store.state("nobody"))).toBeUndefined();
    expect(await reply(store.health())).toMatchObject({ problem: null, restarts: { count: 0 } });
    expect(await reply(store.define({ definition: "d", outline: "{}" }))).toBeUndefined();
    expect(await reply(store.outline("d"))).toBe("{}");
    expect(await reply(store.close())).toBeUndefined();
  });

  test("a value that cannot be sent or kept is refused by the name of the operation", async () => {
    const store = make();
    await reply(store.open());
    const refused = {
      code: "store-refused",
      message: "The store refused the operation define",
      cause: expect.any(Error),
    };
    const unsendable = Object.assign(JSON.parse("{}"), {
      toJSON: () => {
        throw new Error("not for threads");
      },
    });
    for (const outline of [unsendable, JSON.parse("null")]) {
      await expect(reply(store.define({ definition: "refused", outline }))).rejects.toMatchObject(refused);
    }
    expect(await reply(store.outline("refused"))).toBeUndefined();
    await reply(store.close());
  });

  test("many calls at once are all replied to", async () => {
    const store = make();
    await reply(store.open());
    const names = Array.from({ length: 300 }, (_, index) => `d${index}`);
    const written = names.map((definition) => store.define({ definition, outline: definition }));
    expect(await reply(Promise.all(written))).toHaveLength(300);
    expect(await reply(Promise.all(names.map((name) => store.outline(name))))).toEqual(names);
    expect(await reply(store.close())).toBeUndefined();
  });
});

test("while too many wait, repeatable reads of callers are refused, and those of the engine are not", async () => {
  const store = memoryStore();
  await reply(store.open());
  const waiting = Array.from({ length: 5000 }, () => store.outline("d"));
  const reads: (() => Promise<unknown>)[] = [() => store.state("e"), () => store.list({ limit: 1 })];
  for (const read of reads) await expect(reply(read())).rejects.toMatchObject({ status: 503 });
  expect(await reply(store.outline("d"))).toBeUndefined();
  await reply(Promise.all(waiting));
  for (const read of reads) await reply(read());
  await reply(store.close());
});

test("an operation with a key of its own may be repeated on the next thread when one dies", () => {
  const keyed = [
    "create",
    "commit",
    "postMessage",
    "beginTurn",
    "endTurn",
    "changeConversation",
    "useApproval",
  ] as const;
  expect(keyed.filter((operation) => !repeatable.has(operation))).toEqual([]);
  expect(repeatable.has("approvalSecret")).toBe(false);
});
