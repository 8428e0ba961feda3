// A database thread that dies is replaced; where that would lose or repeat something, the process ends with a clear line.
import { spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { event, execution } from "../../src/store-cases/store-cases.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-dead-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = () => path.join(folder, `${++files}.db`);

/** An open store with the threads that it starts. */
async function openStore() {
  const threads: Worker[] = [];
  const notice = (message: unknown) => threads.push(Object(message).worker);
  subscribe("worker_threads", notice);
  const file = newFile();
  const store = sqliteStore({ path: file });
  await store.open();
  onTestFinished(async () => {
    unsubscribe("worker_threads", notice);
    await store.close();
  });
  return { store, threads, file };
}

/** An open store with both threads, the writer's first; those that replace them follow. */
async function openWithThreads() {
  const { store, threads } = await openStore();
  // The first read starts the thread that reads.
  await store.state("none");
  const [writer, reader] = threads;
  if (writer === undefined || reader === undefined) throw new Error("expected two threads");
  return { store, threads, writer, reader };
}

test("the reader thread is started by the first read of a caller, and not by reads of the engine", async () => {
  const { store, threads } = await openStore();
  await store.create(execution({ executionId: "a" }));
  expect(await store.due({ workflowIds: ["w"], limit: 10 })).toEqual([]);
  expect(await store.countUnfinished()).toHaveLength(1);
  expect(await store.outline("none")).toBeUndefined();
  expect((await store.health()).problem).toBeNull();
  expect(threads).toHaveLength(1);
  const reads = await Promise.all([store.state("a"), store.state("a")]);
  expect(reads.map((read) => read?.execution.executionId)).toEqual(["a", "a"]);
  expect(threads).toHaveLength(2);
});

test("a thread that cannot be started for a read refuses it, and the next read tries again", async () => {
  const { store, file } = await openStore();
  await store.create(execution({ executionId: "a" }));
  renameSync(file, `${file}.away`);
  await expect(store.state("a")).rejects.toMatchObject({ code: "store-unavailable" });
  writeFileSync(file, "");
  await expect(store.state("a")).rejects.toMatchObject({
    cause: { message: "the file was replaced while it was open" },
  });
  renameSync(`${file}.away`, file);
  expect((await store.state("a"))?.execution.executionId).toBe("a");
});

test("a thread keeps the process alive while a caller waits for it, and only then", async () => {
  const { store, writer, reader } = await openWithThreads();
  const calls: string[] = [];
  const notice = (thread: Worker, name: string) => {
    vi.spyOn(thread, "ref").mockImplementation(() => void calls.push(`${name} ref`));
    vi.spyOn(thread, "unref").mockImplementation(() => void calls.push(`${name} unref`));
  };
  notice(writer, "writer");
  notice(reader, "reader");
  const created = store.create(execution({ executionId: "a" }));
  expect(calls).toEqual(["writer ref"]);
  await created;
  expect(calls).toEqual(["writer ref", "writer unref"]);
  const reads = [store.state("a"), store.state("a")];
  expect(calls.slice(2)).toEqual(["reader ref"]);
  await Promise.all(reads);
  expect(calls.slice(2)).toEqual(["reader ref", "reader unref"]);
});

test("a store that was never read closes", async () => {
  const { store } = await openStore();
  await store.close();
  await expect(store.state("a")).rejects.toMatchObject({ code: "store-unavailable" });
});

test("a reader that dies is replaced, and reads under way are asked again", async () => {
  const { store, threads, reader } = await openWithThreads();
  await store.create(execution({ executionId: "a" }));
  const reads = Array.from({ length: 100 }, () => store.state("a"));
  await reader.terminate();
  const states = await Promise.all(reads);
  expect(new Set(states.map((state) => state?.execution.sequence))).toEqual(new Set([1]));
  expect(threads).toHaveLength(3);
  await threads[2]?.terminate();
  expect(await store.list({ limit: 10 })).toHaveLength(1);
});

test("a reader that dies again and again loses no read: each is served or refused with a 503", async () => {
  const { store, threads, reader } = await openWithThreads();
  await store.create(execution({ executionId: "a", input: JSON.stringify("x".repeat(4_000_000)) }));
  const reads = Promise.allSettled(Array.from({ length: 50 }, () => store.state("a")));
  await reader.terminate();
  await expect.poll(() => threads.length).toBe(3);
  await once(threads[2] ?? reader, "online");
  await threads[2]?.terminate();
  const kinds = new Set(
    (await reads).map((read) => (read.status === "fulfilled" ? "read" : read.reason.code)),
  );
  expect([...kinds].every((kind) => kind === "read" || kind === "store-unavailable")).toBe(true);
  expect((await store.state("a"))?.execution.sequence).toBe(1);
});

test("an idle writer that dies is replaced, and writes meanwhile wait for it", async () => {
  const { store, threads, writer } = await openWithThreads();
  await store.create(execution({ executionId: "a" }));
  await writer.terminate();
  expect(await store.create(execution({ executionId: "b" }))).toEqual({ created: true });
  expect(await store.list({ limit: 10 })).toHaveLength(2);
  expect(threads).toHaveLength(3);
});

test("closing resolves with dead threads", async () => {
  const { store, writer, reader } = await openWithThreads();
  const ended = Promise.all([reader.terminate(), writer.terminate()]);
  await store.close();
  await ended;
});

const storeModule = pathToFileURL(
  path.join(import.meta.dirname, "../../src/store/sqlite/sqlite-store.ts"),
).href;

/** Runs a script with an open store and its threads; resolves with how the process ended. */
async function runChild(open: string, script: string) {
  const source = `
    import { subscribe } from "node:diagnostics_channel";
    import { memoryStore, sqliteStore } from ${JSON.stringify(storeModule)};
    const threads = [];
    subscribe("worker_threads", ({ worker }) => threads.push(worker));
    const store = ${open};
    await store.open();
    const made = ${JSON.stringify(execution({ executionId: "a", events: [event("workflow-start")] }))};
    ${script}
    setTimeout(() => console.log("it goes on"), 20_000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source]);
  let errors = "";
  let output = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  child.stdout.on("data", (chunk) => (output += chunk));
  await once(child, "close");
  return { code: child.exitCode, errors, output };
}

test("a writer that dies with a write of an execution under way is replaced, and the write is repeated", async () => {
  const { code, output } = await runChild(
    `sqliteStore({ path: ${JSON.stringify(newFile())} })`,
    `const created = store.create(made);
     await null;
     threads[0].terminate();
     console.log((await created).created, (await store.state(made.executionId)).execution.sequence);
     await store.close();
     process.exit();`,
  );
  expect({ code, output }).toEqual({ code: 0, output: "true 1\n" });
});

test("a writer that dies during another write ends the process, which logs one line", async () => {
  const file = newFile();
  const { code, errors, output } = await runChild(
    `sqliteStore({ path: ${JSON.stringify(file)} })`,
    `store.approvals.secret("candidate").then(() => console.log("kept"));
     await null;
     threads[0].terminate();`,
  );
  expect({ code, output }).toEqual({ code: 1, output: "" });
  expect(errors).toMatch(
    /^Andante: the database thread of .*\.db has died and cannot be replaced \(.*\)\. .*\n$/,
  );
  expect(errors).toContain(file);
});

test("a memory store whose thread dies ends the process: its data is gone", async () => {
  const { code, errors } = await runChild(
    "memoryStore()",
    "await store.create(made); threads[0].terminate();",
  );
  expect(code).toBe(1);
  expect(errors).toContain("the database thread of :memory: has died and cannot be replaced");
});

test("a file that another process has taken meanwhile ends the process", async () => {
  const file = newFile();
  const { code, errors } = await runChild(
    `sqliteStore({ path: ${JSON.stringify(file)} })`,
    `const { DatabaseSync } = await import("node:sqlite");
     const other = new DatabaseSync(${JSON.stringify(`${file}-lock`)}, { timeout: 5000 });
     threads[0].once("exit", () => other.exec("begin exclusive"));
     threads[0].terminate();`,
  );
  expect(code).toBe(1);
  expect(errors).toContain("has it open");
});
