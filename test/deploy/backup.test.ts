// deploy/backup.mjs copies the database while executions run; restored, they continue from that moment.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Andante, createAndante, createWorkflow, sqliteStore } from "@andante/core";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { silentLogger } from "../support/silent-logger.ts";

const script = path.resolve(import.meta.dirname, "../../deploy/backup.mjs");

const approval = createWorkflow({ id: "approval", input: z.object({ n: z.number() }) }).andThen({
  id: "wait",
  resumeSchema: z.object({ ok: z.boolean() }),
  execute: ({ data, suspend, resumeData }) => (resumeData ? { n: data.n, ...resumeData } : suspend("ok?")),
});
/** Its second step takes until the test is over, in the first process; in the next one it is quick. */
const work = (hold: Promise<void>) =>
  createWorkflow({ id: "work", input: z.object({ n: z.number() }) })
    .andThen({ id: "first", execute: ({ data }) => data.n + 1 })
    .andThen({ id: "second", execute: async ({ data }) => hold.then(() => data * 2) });

function open(file: string, hold: Promise<void>): Andante {
  return createAndante({
    workflows: { approval, work: work(hold) },
    store: sqliteStore({ path: file }),
    logger: silentLogger,
  });
}

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-backup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function backUp(from: string, to: string): Promise<{ code: number; printed: string }> {
  const child = spawn(process.execPath, [script, from, to], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = [child.stdout.toArray(), child.stderr.toArray()];
  const [code] = await once(child, "exit");
  return { code, printed: Buffer.concat([...(await out), ...(await err)]).toString() };
}

test("a copy made under load is whole, and everything in it continues", async () => {
  const folder = newFolder();
  // As the page on operating says; the folder is made.
  const [file, copy] = [path.join(folder, "andante.db"), path.join(folder, "backups/copy.db")];
  const first = open(file, new Promise(() => undefined));
  onTestFinished(() => first.close({ grace: 0 }));
  // Known before the backup begins: in the copy, all of them.
  const before = await Promise.all(
    Array.from({ length: 20 }, (_, n) => first.execute("approval", { n }, { executionId: `before-${n}` })),
  );
  const running = await Promise.all(
    Array.from({ length: 20 }, (_, n) => first.start("work", { n }, { executionId: `running-${n}` })),
  );
  expect([before.length, running.length]).toEqual([20, 20]);
  let loading = true;
  let written = 0;
  const load = (async () => {
    while (loading) {
      await Promise.all(Array.from({ length: 10 }, () => first.execute("approval", { n: written++ })));
    }
  })();
  const { code, printed } = await backUp(file, copy);
  // A link to the file: the log is beside the file itself.
  const link = path.join(newFolder(), "link.db");
  symlinkSync(file, link);
  const ofLink = path.join(folder, "backups/of-link.db");
  expect((await backUp(link, ofLink)).code).toBe(0);
  loading = false;
  await load;
  expect(printed).toMatch(/copy\.db: \d+ bytes/);
  expect([code, written > 0]).toEqual([0, true]);
  expect(modesOf(folder)).toMatchObject({ backups: "700", "backups/copy.db": "600" });
  await first.close({ grace: 0 });
  const linked = open(ofLink, new Promise(() => undefined));
  onTestFinished(() => linked.close({ grace: 0 }));
  expect((await linked.list({ workflowId: "work", limit: 50 })).executions).toHaveLength(20);

  // The restore: the copy in the place of the database, nothing of the old one beside it.
  const restored = path.join(newFolder(), "andante.db");
  const moved = await backUp(copy, restored);
  expect(moved.code).toBe(0);
  const second = open(restored, Promise.resolve());
  onTestFinished(() => second.close({ grace: 0 }));
  await second.ready();
  for (let n = 0; n < 20; n++) {
    const resumed = await second.resume("approval", `before-${n}`, { ok: true });
    expect(resumed).toMatchObject({ status: "completed", result: { n, ok: true } });
  }
  await second.settled();
  const done = await second.list({ workflowId: "work", limit: 50 });
  expect(done.executions.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => "completed"));
});

test("a copy made while the server is stopped leaves nothing beside the database, and is readable for its owner alone", async () => {
  const folder = newFolder();
  const file = path.join(folder, "andante.db");
  const first = open(file, Promise.resolve());
  await first.execute("approval", { n: 1 }, { executionId: "waits" });
  await first.close();
  const before = modesOf(folder);
  // The folder of the copy is another one: files that SQLite creates to read the database would be left in this one.
  const elsewhere = newFolder();
  const copy = path.join(elsewhere, "backups/daily/copy.db");
  expect((await backUp(file, copy)).code).toBe(0);
  expect(modesOf(folder)).toEqual(before);
  const made = { backups: "700", "backups/daily": "700", "backups/daily/copy.db": "600" };
  expect(modesOf(elsewhere)).toEqual(made);

  const second = open(copy, Promise.resolve());
  onTestFinished(() => second.close({ grace: 0 }));
  expect(await second.resume("approval", "waits", { ok: true })).toMatchObject({ status: "completed" });
});

test("a copy of a killed server's file has the rows that are only in its log", async () => {
  const folder = newFolder();
  const file = path.join(folder, "andante.db");
  const program = `
    import { createAndante, createWorkflow, sqliteStore } from "@andante/core";
    import { z } from "zod";
    const waits = createWorkflow({ id: "approval", input: z.object({ n: z.number() }) })
      .andThen({ id: "wait", execute: ({ suspend }) => suspend("ok?") });
    const store = sqliteStore({ path: process.argv[1] });
    await createAndante({ workflows: { waits }, store }).execute("approval", { n: 7 }, { executionId: "waits" });
    process.kill(process.pid, "SIGKILL");
  `;
  const args = ["--conditions=andante-source", "--input-type=module", "--eval", program, file];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: "ignore" });
  expect((await once(child, "exit"))[1]).toBe("SIGKILL");
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  const before = readdirSync(folder).sort();
  const copy = path.join(newFolder(), "copy.db");
  expect((await backUp(file, copy)).code).toBe(0);
  expect(readdirSync(folder).sort()).toEqual(before);

  const second = open(copy, Promise.resolve());
  onTestFinished(() => second.close({ grace: 0 }));
  expect(await second.resume("approval", "waits", { ok: true })).toMatchObject({
    result: { n: 7, ok: true },
  });
});

/** The files of a folder with their modes. */
function modesOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const modes = files.map((file) => [file, (statSync(path.join(folder, file)).mode & 0o777).toString(8)]);
  return Object.fromEntries(modes);
}

/** A database that ends in the middle. */
function cutShort(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    "pragma journal_mode = wal; create table many (one); insert into many values (zeroblob(20000))",
  );
  database.close();
  truncateSync(file, 4096);
}

test("a file that cannot be copied is reported, and leaves nothing behind", async () => {
  const folder = newFolder();
  const [good, bad] = [path.join(folder, "good.db"), path.join(folder, "bad.db")];
  const cut = path.join(folder, "cut.db");
  cutShort(cut);
  writeFileSync(bad, "not a database, however long one looks at it".repeat(100));
  writeFileSync(good, "here already");
  const cases: [string, string, string][] = [
    [path.join(folder, "none.db"), path.join(folder, "a.db"), "There is no database"],
    [bad, path.join(folder, "a.db"), "could not be copied: file is not a database"],
    [bad, good, "exists"],
    [cut, path.join(folder, "a.db"), "malformed"],
  ];
  for (const [from, to, problem] of cases) {
    const { code, printed } = await backUp(from, to);
    expect([code, printed]).toEqual([1, expect.stringContaining(problem)]);
  }
  expect(readdirSync(folder).sort()).toEqual(["bad.db", "cut.db", "good.db"]);
  expect(existsSync(path.join(folder, "a.db"))).toBe(false);
});
