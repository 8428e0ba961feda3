// Probes report the true state: /health asks the store, /ready also reports that the server shuts down.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { createWorkflow, memoryStore, type Store, sqliteStore } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { createApp } from "@andante/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";

const started = Promise.withResolvers<void>();
const gate = Promise.withResolvers<string>();
const echo = createWorkflow({ id: "echo", input: z.unknown() }).andThen({ id: "say", execute: () => "done" });
const held = createWorkflow({ id: "held", input: z.unknown() }).andThen({
  id: "wait",
  execute: () => {
    started.resolve();
    return gate.promise;
  },
});

function serveOn(store: Store) {
  const logger = new RecordingLogger();
  const { app, andante, close } = createApp({ store, workflows: { echo, held }, logger });
  cleanup(() => close({ grace: 0 }));
  const get = async (route: string) => {
    const response = await app.request(route);
    return {
      status: response.status,
      retry: response.headers.get("retry-after"),
      ...Object(await response.json()),
    };
  };
  return { andante, close, get, logger };
}

function newFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-health-"));
  cleanup(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, "test.db");
}

const trouble = (problem: unknown) => ({
  status: 503,
  retry: "5",
  success: false,
  error: expect.stringContaining(String(problem)),
});

test.each([
  ["in memory", () => memoryStore()],
  ["in a file", () => sqliteStore({ path: newFile() })],
])("a service whose store works %s is healthy and ready", async (_, makeStore) => {
  const { get } = serveOn(makeStore());
  expect(await get("/health")).toEqual({ status: 200, retry: null, success: true, data: { status: "ok" } });
  expect(await get("/ready")).toEqual({ status: 200, retry: null, success: true, data: { status: "ready" } });
});

test("a full file is reported, until there is room again", async () => {
  const file = newFile();
  const { andante, get, logger } = serveOn(sqliteStore({ path: file, maxBytes: 1_000_000 }));
  await andante.ready();
  let refused: unknown;
  while (refused === undefined) {
    // Not waited for: an execution whose commit finds no room waits for it.
    await andante.start("echo", "x".repeat(20_000)).catch((error: unknown) => (refused = error));
  }
  expect(refused).toMatchObject({ code: "store-unavailable" });
  expect(await get("/health")).toMatchObject(trouble("full"));
  expect(await get("/ready")).toMatchObject(trouble("full"));
  const other = new DatabaseSync(file, { timeout: 5_000 });
  other.exec("delete from journal; delete from executions");
  other.close();
  // The writer tries again after a pause; until then starts are refused.
  const status = () => andante.execute("echo", {}).then(({ status }) => status, String);
  await expect.poll(status).toBe("completed");
  expect(await get("/health")).toMatchObject({ status: 200 });
  const told = logger.lines.filter(({ msg }) => /the stor(e|age) /.test(msg));
  expect(told).toMatchObject([
    { level: "error", msg: expect.stringMatching(/^the storage is in trouble/), store: file },
    { level: "warn", msg: expect.stringMatching(/^the storage works again/), store: file },
  ]);
});

test("a database that cannot be written is reported with the reason", async () => {
  const file = newFile();
  const { andante, get } = serveOn(sqliteStore({ path: file }));
  await andante.ready();
  const other = new DatabaseSync(file, { timeout: 5_000 });
  other.exec("begin immediate");
  await expect(andante.execute("echo", {})).rejects.toMatchObject({ code: "store-unavailable" });
  expect(await get("/health")).toMatchObject(trouble("the last commit failed: database is locked"));
  other.exec("rollback");
  other.close();
  // The writer tries again after a pause; until then starts are refused.
  const status = () =>
    andante.execute("echo", {}).then(
      (result) => result.status,
      () => "refused",
    );
  await expect.poll(status).toBe("completed");
  expect(await get("/health")).toMatchObject({ status: 200 });
});

test.each([
  ["removed", (file: string) => rmSync(file)],
  ["removed", (file: string) => rmSync(`${file}-wal`)],
  [
    "replaced",
    (file: string) => {
      renameSync(file, `${file}.old`);
      writeFileSync(file, "");
    },
  ],
])("a file that was %s under the process is reported, in one line that names it", async (how, change) => {
  const file = newFile();
  const { andante, get, logger } = serveOn(sqliteStore({ path: file }));
  await andante.execute("echo", {});
  expect(await get("/health")).toMatchObject({ status: 200 });
  change(file);
  for (let n = 0; n < 3; n++) {
    expect(await get("/health")).toMatchObject(trouble(`the database file was ${how} while it is open`));
  }
  const errors = logger.lines.filter(({ level }) => level === "error");
  const msg = `the storage is in trouble: the database file was ${how} while it is open`;
  expect(errors).toEqual([expect.objectContaining({ msg, store: file })]);
});

test("a thread that died is replaced, with one log line", async () => {
  const threads: Worker[] = [];
  const notice = (message: unknown) => threads.push(Object(message).worker);
  subscribe("worker_threads", notice);
  cleanup(() => unsubscribe("worker_threads", notice));
  const { andante, get, logger } = serveOn(sqliteStore({ path: newFile() }));
  // The thread that reads is started by the first read.
  await andante.list({ limit: 1 });
  for (const thread of threads.slice(0, 2)) await thread.terminate();
  await expect.poll(() => get("/health")).toMatchObject({ status: 200 });
  expect(await andante.execute("echo", {})).toMatchObject({ status: "completed" });
  await get("/health");
  const errors = logger.lines.filter(({ level }) => level === "error").map(({ msg }) => msg);
  expect(errors).toContain("a database thread died and was started again");
  expect(threads).toHaveLength(4);
});

test("a server that shuts down is healthy but not ready", async () => {
  const { andante, close, get } = serveOn(memoryStore());
  const result = andante.execute("held", {});
  await started.promise;
  const closed = close({ grace: 10_000 });
  expect(await get("/health")).toMatchObject({ status: 200 });
  expect(await get("/ready")).toMatchObject({ status: 503, error: expect.stringContaining("shutting down") });
  gate.resolve("done");
  await result;
  await closed;
  expect(await get("/ready")).toMatchObject({ status: 503 });
  expect(await get("/health")).toMatchObject({ status: 503 });
});
