// Behaviour of files alone: to be owned, newer than the code, broken, full, opened again.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { StoreOpenError, StoreRefusedError, StoreUnavailableError } from "../../errors/index.ts";
import { commitOf, event, execution, suspension } from "../../store-cases/store-cases.ts";
import type { Store } from "../store.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-file-"));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newFile = () => path.join(folder, `${++files}.db`);

const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
async function open(file: string, maxBytes?: number): Promise<Store> {
  const store = sqliteStore(maxBytes === undefined ? { path: file } : { path: file, maxBytes });
  await store.open();
  opened.push(store);
  return store;
}

const storeModule = pathToFileURL(path.join(import.meta.dirname, "sqlite-store.ts")).href;
/** Runs a script of its own process; resolves with its output and its exit. */
async function runChild(script: string, user?: number): Promise<{ code: number | null; output: string }> {
  const options = user === undefined ? {} : { uid: user, gid: user };
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], options);
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  await once(child, "close");
  return { code: child.exitCode, output };
}
const openInChild = (file: string) => `
  import { sqliteStore } from ${JSON.stringify(storeModule)};
  const store = sqliteStore({ path: ${JSON.stringify(file)} });
  await store.open().then(() => console.log("opened"), (error) => console.log(error.name + ": " + error.message));
`;

describe.runIf(process.platform !== "win32")("who may read a file", () => {
  const modesOf = (file: string) =>
    ["", "-wal", "-shm", "-lock"].map((end) => (statSync(file + end).mode & 0o777).toString(8));

  test("a new one and the files beside it are for their user alone", async () => {
    const file = newFile();
    await open(file);
    expect(modesOf(file)).toEqual(["600", "600", "600", "600"]);
  });

  test("one that exists keeps its mode, and the files that SQLite writes beside it have the same", async () => {
    const file = newFile();
    await (await open(file)).close();
    chmodSync(file, 0o640);
    await open(file);
    expect(modesOf(file)).toEqual(["640", "640", "640", "600"]);
  });
});

describe("one process owns a file", () => {
  test("a second store in the same process is refused with the reason", async () => {
    const file = newFile();
    await open(file);
    const second = sqliteStore({ path: file });
    await expect(second.open()).rejects.toThrow(StoreOpenError);
    await expect(second.open()).rejects.toThrow(
      `Cannot open the store ${file}: another process, or another store in this one, has it open`,
    );
  });

  test("a second process is refused, and takes over when the first has closed", async () => {
    const file = newFile();
    const store = await open(file);
    const refused = await runChild(openInChild(file));
    expect(refused.output).toContain(`StoreOpenError: Cannot open the store ${file}: another process`);
    await store.close();
    expect((await runChild(openInChild(file))).output).toBe("opened\n");
  });

  test("a second store is refused by any name of the file", async () => {
    const file = newFile();
    await open(file);
    symlinkSync(file, `${file}.link`);
    await expect(sqliteStore({ path: `${file}.link` }).open()).rejects.toThrow(StoreOpenError);
  });

  test("a store that could not open leaves the file to others", async () => {
    const file = newFile();
    writeFileSync(file, "no database");
    await expect(sqliteStore({ path: file }).open()).rejects.toThrow(StoreOpenError);
    rmSync(file);
    await open(file);
  });

  test("opening twice is refused", async () => {
    const store = await open(newFile());
    await expect(store.open()).rejects.toThrow("it is already open");
  });
});

describe("a file that cannot be used names its path and the trouble", () => {
  const problemOf = async (file: string) => {
    const error: unknown = await sqliteStore({ path: file })
      .open()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreOpenError);
    const { message } = Object(error);
    expect(message).toContain(`Cannot open the store ${file}: `);
    return String(message);
  };

  test("garbage", async () => {
    const file = newFile();
    writeFileSync(file, Buffer.alloc(8192, "garbage"));
    expect(await problemOf(file)).toContain("not a database");
  });

  test("a broken page inside", async () => {
    const file = newFile();
    await (await open(file)).close();
    const database = new DatabaseSync(file);
    database.exec("pragma wal_checkpoint(truncate)");
    database.close();
    writeFileSync(file, Buffer.alloc(4096, 0xff), { flag: "r+" });
    expect(await problemOf(file)).toContain("not a database");
  });

  test("newer than this release", async () => {
    const file = newFile();
    await (await open(file)).close();
    const database = new DatabaseSync(file);
    database.exec("pragma user_version = 999");
    database.close();
    expect(await problemOf(file)).toMatch(/version is 999.*use a newer release/);
  });

  test("in a folder that does not exist", async () => {
    expect(await problemOf(path.join(folder, "missing", "a.db"))).toContain("unable to open");
  });

  test("read-only", async () => {
    const file = newFile();
    const [lock, other] = [`${file}-lock`, 65_534];
    await (await open(file)).close();
    for (const each of [file, lock]) chmodSync(each, 0o444);
    // Root may write anywhere, so the file is opened by another user.
    const user = process.getuid?.() === 0 ? other : undefined;
    const { output } = await runChild(openInChild(file), user);
    expect(output).toContain(`StoreOpenError: Cannot open the store ${file}: attempt to write a readonly`);
  });

  test("without a path", () => {
    expect(() => sqliteStore({ path: "" })).toThrow("Option path: sqliteStore needs the path of a file");
  });
});

describe("a file that is opened again", () => {
  test("keeps everything, and its migrations are applied once", async () => {
    const file = newFile();
    const made = execution();
    const gate = suspension();
    let store = await open(file);
    await store.create(made);
    await store.commit(commitOf(made.executionId, { open: [gate], events: [event("step-suspended")] }));
    const before = await store.state(made.executionId);
    await store.close();
    store = await open(file);
    expect(await store.state(made.executionId)).toEqual(before);
    expect(await store.events({ executionId: made.executionId, after: 0, limit: 10 })).toHaveLength(2);
  });

  test("shows nothing of a fork whose process was killed between two pages, and lets it be made again", async () => {
    const file = newFile();
    const fork = {
      ...{ conversationId: "source", userId: null, forkId: "fork", maxBytes: 1000 },
      ...{ page: { rows: 1, bytes: 1000 }, at: 1 },
    };
    const { output } = await runChild(`${openInChild(file)}
      const post = (messageId) => store.conversations.post({ key: messageId, conversationId: "source", agentId: "a",
        userId: null, title: null, messageId, body: "{}", again: false, at: 1 });
      await post("m1");
      await post("m2");
      console.log((await store.conversations.fork({ ...${JSON.stringify(fork)}, key: "k1", copyId: "c1" })).kind);
      process.kill(process.pid, "SIGKILL");
    `);
    expect(output).toBe("opened\nmore\n");
    const { conversations } = await open(file);
    expect(await conversations.read({ conversationId: "fork" })).toBeUndefined();
    expect(await conversations.messages({ conversationId: "fork", after: 0, limit: 9 })).toBeUndefined();
    const again = { ...fork, copyId: "c2", at: 10_001 };
    expect(await conversations.fork({ ...again, key: "k2" })).toEqual({ kind: "more", copied: 1 });
    expect(await conversations.fork({ ...again, key: "k3" })).toEqual({ kind: "forked" });
    const copied = await conversations.messages({ conversationId: "fork", after: 0, limit: 9 });
    expect(copied?.map(({ messageId }) => messageId)).toEqual(["m1", "m2"]);
  });

  test("counts every earlier owner as gone", async () => {
    const file = newFile();
    let store = await open(file);
    await store.heartbeat({ owner: "here", lease: 1_000_000 });
    const { executionId } = await created(store);
    await store.close();
    store = await open(file);
    const [claimed] = await store.claimAbandoned({
      owner: "next",
      key: randomUUID(),
      workflowIds: ["publish"],
      limit: 1,
      suspects: false,
      suspectAfter: 2,
    });
    expect(claimed?.row).toMatchObject({ executionId, recoveries: 1 });
  });

  test("has the commits from before a copy of it was made, as after a crash", async () => {
    const file = newFile();
    const store = await open(file);
    const { executionId } = await created(store);
    const copy = newFile();
    for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
    expect((await (await open(copy)).state(executionId))?.execution.sequence).toBe(1);
  });
});

async function created(store: Store, input = "null") {
  const made = execution({ input });
  await store.create(made);
  return made;
}

describe("a full disk", () => {
  const big = JSON.stringify("x".repeat(20_000));

  /** Fills the store until a start is refused. */
  async function fill(store: Store): Promise<unknown> {
    for (;;) {
      try {
        await created(store, big);
      } catch (error) {
        return error;
      }
    }
  }

  test("refuses starts, lets commits wait, and loses nothing that was committed", async () => {
    const file = newFile();
    const store = await open(file, 1_000_000);
    const running = await created(store);
    const error = await fill(store);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ status: 503, retryAfter: 2 });
    expect(String(Object(error).cause)).toContain("full");
    const count = (await store.list({ limit: 1000 })).length;
    const commit = commitOf(running.executionId, { events: [event("step-complete", { value: big })] });
    const stalled = store.commit(commit).then(
      () => "committed",
      (reason: unknown) => reason,
    );
    await expect(created(store, big)).rejects.toThrow(StoreUnavailableError);
    // Reading continues, and so does closing: waiting calls get a result, and are not dropped in silence.
    expect((await store.state(running.executionId))?.execution.sequence).toBe(1);
    await store.close();
    expect(await stalled).toBeInstanceOf(StoreUnavailableError);

    const larger = await open(file, 10_000_000);
    expect(await larger.list({ limit: 1000 })).toHaveLength(count);
    expect(await larger.commit(commit)).toMatchObject({ kind: "ok", sequence: 2 });
  });

  test("that has room again performs the commits that waited, without a new call", async () => {
    const file = newFile();
    const store = await open(file, 1_000_000);
    const running = await created(store);
    await fill(store);
    const value = JSON.stringify("y".repeat(10_000));
    const commit = commitOf(running.executionId, { events: [event("step-complete", { value })] });
    const stalled = store.commit(commit);
    await expect(created(store, big)).rejects.toThrow(StoreUnavailableError);
    // Another connection makes room: deleted rows leave pages that the next commit can use.
    const other = new DatabaseSync(file, { timeout: 5_000 });
    const { id } =
      other.prepare("select id from executions where execution_id = ?").get(running.executionId) ?? {};
    other.exec(`delete from executions where id <> ${id}; delete from journal where execution <> ${id}`);
    other.close();
    expect(await stalled).toMatchObject({ kind: "ok", sequence: 2 });
    await created(store, big);
  });
});

test("a refused item of a group fails alone", async () => {
  const store = await open(newFile());
  const gate = suspension();
  const made = [execution(), execution(), execution()] as const;
  await Promise.all(made.map((each) => store.create(each)));
  await store.commit(commitOf(made[0].executionId, { open: [gate] }));
  // The second opens a suspension whose id is taken; all three travel in one group.
  const answers = await Promise.allSettled(
    made.map(({ executionId }, index) =>
      store.commit(commitOf(executionId, { events: [event("a")], open: index === 1 ? [gate] : [] })),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(Object(answers[1]).reason).toBeInstanceOf(StoreRefusedError);
  const lengths = made.map(
    async ({ executionId }) => (await store.events({ executionId, after: 0, limit: 9 })).length,
  );
  expect(await Promise.all(lengths)).toEqual([2, 1, 2]);
});

test("a process with an open, idle store ends by itself", async () => {
  const { code, output } = await runChild(openInChild(newFile()));
  expect({ code, output }).toEqual({ code: 0, output: "opened\n" });
});
