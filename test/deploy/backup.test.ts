// deploy/backup.mjs copies the database while executions run; restored, they continue from that moment.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
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
  const [file, copy] = [path.join(folder, "andante.db"), path.join(folder, "copy.db")];
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
  loading = false;
  await load;
  expect(printed).toMatch(/copy\.db: \d+ bytes/);
  expect([code, written > 0]).toEqual([0, true]);
  await first.close({ grace: 0 });

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

test("what cannot be copied is said, and leaves nothing behind", async () => {
  const folder = newFolder();
  const [good, bad] = [path.join(folder, "good.db"), path.join(folder, "bad.db")];
  writeFileSync(bad, "not a database, however long one looks at it".repeat(100));
  writeFileSync(good, "here already");
  const cases: [string, string, string][] = [
    [path.join(folder, "none.db"), path.join(folder, "a.db"), "There is no database"],
    [bad, path.join(folder, "a.db"), "could not be copied: file is not a database"],
    [bad, good, "exists"],
  ];
  for (const [from, to, problem] of cases) {
    const { code, printed } = await backUp(from, to);
    expect([code, printed]).toEqual([1, expect.stringContaining(problem)]);
  }
  expect(readdirSync(folder).sort()).toEqual(["bad.db", "good.db"]);
  expect(existsSync(path.join(folder, "a.db"))).toBe(false);
});
