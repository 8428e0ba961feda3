// The threads of a SQLite store, replaced by the test: their health, their opening and their end.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { StoreUnavailableError } from "../../errors/index.ts";
import { memoryStore, sqliteStore } from "./sqlite-store.ts";
import { ThreadClient, type ThreadClientOptions } from "./thread-client.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-threads-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = path.join(folder, "test.db");
writeFileSync(file, "");

interface FakeThread {
  readonly restarts: { readonly count: number; readonly reason: string };
  readonly isStarted: boolean;
  health(): Promise<unknown>;
}

const well: FakeThread = {
  ...{ restarts: { count: 0, reason: "" }, isStarted: true },
  health: async () => ({ problem: null, bytes: 7 }),
};

/** Threads that the store opens from now on. `events`: opened with this, called with that, closed. */
function fakeThreads(writer: Partial<FakeThread> = {}, reader: Partial<FakeThread> = {}) {
  const events: unknown[] = [];
  const make = (name: string, fields: Partial<FakeThread>, options: ThreadClientOptions): ThreadClient => {
    const { lost: _, ...start } = options;
    events.push([name, start]);
    const { health, ...more } = { ...well, ...fields };
    return Object.assign(Object.create(null), {
      ...more,
      call: (operation: string, argument: unknown) => {
        if (operation === "health") return health();
        events.push([name, operation, argument]);
        return Promise.resolve(name);
      },
      close: async () => events.push(`${name} closed`),
    });
  };
  const open = vi
    .spyOn(ThreadClient, "open")
    .mockImplementation(async (options) => make("writer", writer, options));
  const onDemand = vi
    .spyOn(ThreadClient, "onDemand")
    .mockImplementation((options) => make("reader", reader, options));
  onTestFinished(() => {
    open.mockRestore();
    onDemand.mockRestore();
  });
  return { events, open };
}

test("a store in memory has one thread, a file has a second one for reads", async () => {
  const { events } = fakeThreads();
  const memory = memoryStore();
  await memory.open();
  expect([await memory.state("e"), await memory.heads([])]).toEqual(["writer", "writer"]);
  await memory.close();
  expect(events.splice(0)).toEqual([
    ["writer", { path: ":memory:", maxBytes: null, role: "both" }],
    ["writer", "state", "e"],
    ["writer", "heads", []],
    "writer closed",
  ]);
  const store = sqliteStore({ path: file, maxBytes: 5000 });
  await store.open();
  await store.state("e");
  await store.outline("d");
  await store.countUnfinished();
  await store.observations.countSuspended();
  await store.close();
  expect(events).toEqual([
    ["writer", { path: file, maxBytes: 5000, role: "write" }],
    ["reader", { path: file, maxBytes: 5000, role: "read", inode: statSync(file).ino }],
    ["reader", "state", "e"],
    ["writer", "outline", "d"],
    ["writer", "countUnfinished", undefined],
    ["reader", "countSuspended", undefined],
    "reader closed",
    "writer closed",
  ]);
});

test("the health of a store is that of both threads; the writer's problem comes first", async () => {
  const healthOf = async (writer: Partial<FakeThread>, reader: Partial<FakeThread>) => {
    fakeThreads(writer, reader);
    const store = sqliteStore({ path: file });
    await store.open();
    return store.health();
  };
  const none = { count: 0, reason: "" };
  const ill = (problem: string) => ({ health: async () => ({ problem, bytes: 3 }) });
  expect(await healthOf({}, {})).toEqual({ problem: null, bytes: 7, restarts: none });
  expect(await healthOf(ill("full"), ill("gone"))).toEqual({ problem: "full", bytes: 3, restarts: none });
  expect(await healthOf({}, ill("gone"))).toEqual({ problem: "gone", bytes: 7, restarts: none });
  // One that was not needed yet is not started for this.
  expect(await healthOf({}, { ...ill("gone"), isStarted: false })).toMatchObject({ problem: null });
  const failing = (cause: Error) => ({ health: () => Promise.reject(cause) });
  const unavailable = new StoreUnavailableError({ cause: new Error("disk gone") });
  expect(await healthOf(failing(unavailable), {})).toMatchObject({
    ...{ problem: "the database thread that writes failed: disk gone", bytes: null },
  });
  expect(await healthOf({}, failing(new Error("odd")))).toMatchObject({
    ...{ problem: "the database thread that reads failed: Error: odd", bytes: 7 },
  });
  const [once, twice] = [
    { count: 1, reason: "killed" },
    { count: 2, reason: "out of memory" },
  ];
  expect(await healthOf({ restarts: once }, { restarts: twice })).toMatchObject({
    restarts: { count: 3, reason: "killed" },
  });
  expect(await healthOf({}, { restarts: twice })).toMatchObject({ restarts: twice });
});

test("the restarts of the one thread of a store in memory count once", async () => {
  fakeThreads({ restarts: { count: 2, reason: "killed" } });
  const store = memoryStore();
  await store.open();
  expect((await store.health()).restarts).toEqual({ count: 2, reason: "killed" });
});

test("a thread that does not report its health within two seconds is the problem", async () => {
  fakeThreads({ health: () => new Promise(() => undefined) });
  const store = sqliteStore({ path: file });
  await store.open();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const health = store.health();
  await vi.advanceTimersByTimeAsync(1999);
  expect(await Promise.race([health, Promise.resolve("pending")])).toBe("pending");
  await vi.advanceTimersByTimeAsync(1);
  expect(await health).toMatchObject({
    ...{ problem: "the database thread that writes does not respond", bytes: null },
  });
});

test("a store is opened once, and one that cannot be opened can be tried again", async () => {
  const { events, open } = fakeThreads();
  const store = sqliteStore({ path: file });
  await store.open();
  await expect(store.open()).rejects.toThrow("it is already open");
  await store.close();
  open.mockRejectedValueOnce(new Error("it is taken"));
  const refused = await store.open().catch((error: unknown) => error);
  expect(refused).toMatchObject({ message: expect.stringContaining("it is taken"), code: "store-open" });
  expect(refused).toMatchObject({ cause: { message: "it is taken" } });
  open.mockRejectedValueOnce("odd");
  await expect(store.open()).rejects.toThrow("odd");
  await store.open();
  expect(await store.state("e")).toBe("reader");
  // The writer of a file that is gone is closed again.
  const missing = sqliteStore({ path: path.join(folder, "missing.db") });
  events.length = 0;
  await expect(missing.open()).rejects.toThrow("ENOENT");
  expect(events.at(-1)).toBe("writer closed");
});

test("calls of a store that is not open are refused", async () => {
  const store = sqliteStore({ path: file });
  await expect(store.state("e")).rejects.toMatchObject({
    ...{ code: "store-unavailable", cause: { message: "the store is not open" } },
  });
  await expect(store.outline("d")).rejects.toMatchObject({ cause: { message: "the store is not open" } });
});

test("a store needs the path of a file and known options", () => {
  const make = (options: unknown) => () => sqliteStore(Object(options));
  expect(make({ path: "" })).toThrow("sqliteStore needs the path of a file");
  expect(make({ path: 5 })).toThrow("sqliteStore needs the path of a file");
  expect(make({ path: file, size: 5 })).toThrow('sqliteStore: unknown option "size"');
  expect(sqliteStore({ path: "test.db" }).location).toBe(path.resolve("test.db"));
  expect(memoryStore().location).toBe(":memory:");
});
