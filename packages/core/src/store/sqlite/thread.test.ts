// The calls that a database thread serves, on the thread of the test: by its role, in groups, to its end.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { execution } from "../../store-cases/store-cases.ts";
import { openForReading, openForWriting } from "./open-database.ts";
import { serveCallsOf } from "./thread.ts";
import type { CallFailure, CallResult, FromThread, ThreadStart } from "./thread-messages.ts";

function served(start: Partial<ThreadStart> = {}) {
  const { port1: ours, port2: port } = new MessageChannel();
  const received: FromThread[] = [];
  const results: CallResult[] = [];
  const arrived: (() => void)[] = [];
  let groups = 0;
  const closed = new Promise<void>((resolve) => ours.on("close", resolve));
  ours.on("message", (text: string) => {
    const message: FromThread = JSON.parse(text);
    received.push(message);
    if ("results" in message) {
      groups += message.groupsReceived;
      results.push(...message.results);
    }
    for (const wake of arrived.splice(0)) wake();
  });
  onTestFinished(() => {
    ours.postMessage('"close"');
    ours.close();
  });
  const underWay = new Int32Array(new SharedArrayBuffer(4));
  serveCallsOf({ path: ":memory:", maxBytes: null, role: "both", ...start, port, underWay });
  const next = async (count: number): Promise<CallResult[]> => {
    while (results.length < count)
      await inTime(new Promise<void>((resolve) => arrived.push(resolve)), "a message of the thread");
    return results.splice(0, count);
  };
  const call = async (operation: string, argument?: unknown): Promise<unknown> => {
    ours.postMessage(JSON.stringify([[1, operation, argument]]));
    const [result] = await next(1);
    return typeof result === "object" && "value" in result ? result.value : result;
  };
  return { ours, received, next, call, closed, groups: () => groups, underWay };
}

function newFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-thread-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return path.join(folder, "test.db");
}

const failure = (message: string): { id: number; failure: CallFailure } => ({
  id: 1,
  failure: { kind: "unavailable", message },
});

test("it reports that the database is open, or why it is not, and ends then", async () => {
  const open = served();
  await open.call("state", "e");
  expect(open.received[0]).toEqual({ opened: true });
  const missing = served({ role: "read", path: "/nowhere/test.db" });
  await inTime(missing.closed, "the end");
  expect(missing.received).toEqual([{ failed: expect.stringMatching(/unable to open database file/) }]);
});

test("a database in memory is read and written by one thread", async () => {
  const { call } = served();
  expect(await call("define", { definition: "d", outline: "{}" })).toBe(1);
  expect(await call("outline", "d")).toBe("{}");
  expect(await call("state", "e")).toEqual({ id: 1 });
  expect(await call("countUnfinished")).toEqual([]);
  expect(await call("health")).toEqual({ problem: null, bytes: null });
  expect(await call("nothing")).toEqual(failure("unknown operation nothing"));
});

test("a writer serves writes and the reads of the engine, a reader the other reads", async () => {
  const file = newFile();
  const writer = served({ role: "write", path: file });
  expect(await writer.call("define", { definition: "d", outline: "{}" })).toBe(1);
  expect(await writer.call("outline", "d")).toBe("{}");
  expect(await writer.call("list", { limit: 1 })).toEqual(failure("unknown operation list"));
  expect(await writer.call("health")).toEqual({ problem: null, bytes: expect.any(Number) });
  const reader = served({ role: "read", path: file, inode: statSync(file).ino });
  expect(await reader.call("list", { limit: 1 })).toEqual([]);
  expect(await reader.call("outline", "d")).toEqual(failure("unknown operation outline"));
  expect(await reader.call("define", {})).toEqual(failure("unknown operation define"));
  expect(await reader.call("health")).toEqual({ problem: null, bytes: null });
});

test("messages that have arrived are one group, in which each call has its own result", async () => {
  const { ours, next, groups } = served();
  const define = (id: number, outline: unknown) => [id, "define", { definition: `d${id}`, outline }];
  ours.postMessage(JSON.stringify([define(1, "a"), define(2, null), [3, "outline", "d1"]]));
  ours.postMessage(JSON.stringify([define(4, "b"), [5, "events", { executionId: "e", after: "x" }]]));
  const results = await next(5);
  const byId = new Map(results.map((result) => [typeof result === "number" ? result : result.id, result]));
  expect([byId.get(1), byId.get(4)]).toEqual([1, 4]);
  expect(byId.get(2)).toMatchObject({ failure: { kind: "refused" } });
  // Writes come first.
  expect(byId.get(3)).toEqual({ id: 3, value: "a" });
  expect(byId.get(5)).toMatchObject({ id: 5 });
  expect(groups()).toBe(2);
});

test("a damaged journal is reported with its place", async () => {
  const file = newFile();
  const { executionId, ...more } = execution();
  const writer = served({ role: "write", path: file });
  expect(await writer.call("create", { executionId, ...more })).toEqual({ created: true });
  const { database, close } = openForReading({ path: file, maxBytes: null });
  const [row] = database.prepare("select sequence from journal").all();
  close();
  const reader = served({ role: "read", path: file });
  expect(await reader.call("events", { executionId, after: 0, limit: 10 })).toHaveLength(more.events.length);
  writer.ours.postMessage('"close"');
  await inTime(writer.closed, "the end");
  const opened = openForWriting({ path: file, maxBytes: null });
  opened.database.exec("update journal set events = '['");
  opened.close();
  expect(await reader.call("events", { executionId, after: 0, limit: 10 })).toEqual({
    id: 1,
    failure: { kind: "damaged", sequence: row?.sequence, problem: "its row is not JSON" },
  });
});

test("calls that come with the end are served before it", async () => {
  const { ours, next, closed } = served();
  ours.postMessage(JSON.stringify([[1, "define", { definition: "d", outline: "{}" }]]));
  ours.postMessage('"close"');
  expect(await next(1)).toEqual([1]);
  await inTime(closed, "the end");
});

test("a file that is closed can be opened again, a file that is open cannot", async () => {
  const path = newFile();
  const first = served({ role: "write", path });
  await first.call("outline", "d");
  const second = served({ role: "write", path });
  await inTime(second.closed, "the end");
  expect(second.received).toEqual([{ failed: "another process, or another store in this one, has it open" }]);
  first.ours.postMessage('"close"');
  await inTime(first.closed, "the end");
  expect(await served({ role: "write", path }).call("outline", "d")).toEqual({ id: 1 });
});

test("a file that was replaced is not read", async () => {
  const path = newFile();
  const writer = served({ role: "write", path });
  await writer.call("outline", "d");
  const reader = served({ role: "read", path, inode: statSync(path).ino + 1 });
  await inTime(reader.closed, "the end");
  expect(reader.received).toEqual([{ failed: "the file was replaced while it was open" }]);
});

test("a file does not grow past its limit", async () => {
  const path = newFile();
  const { call } = served({ role: "write", path, maxBytes: 200 * 4096 });
  const outline = "x".repeat(300_000);
  expect(await call("define", { definition: "a", outline })).toBe(1);
  expect(await call("define", { definition: "b", outline })).toEqual(failure("database or disk is full"));
  expect(await call("health")).toMatchObject({ problem: "the last commit failed: database or disk is full" });
});
