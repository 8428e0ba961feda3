// Going back to an older release, as docs/upgrading.md says: it refuses the database of a newer one in those words, and
// continues from the backup that was made before the upgrade.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Andante, createAndante, createWorkflow, sqliteStore } from "@andante/core";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { silentLogger } from "../support/silent-logger.ts";

const root = path.resolve(import.meta.dirname, "../..");
const page = readFileSync(path.join(root, "docs/upgrading.md"), "utf8");

/** Payments by key: the outside world, which no backup restores. */
const payments: string[] = [];
const approval = createWorkflow({ id: "approval", input: z.object({}) })
  .andThen({
    id: "ask",
    execute: ({ resumeData, suspend }) => (resumeData === undefined ? suspend("ok?") : resumeData),
  })
  .andThen({ id: "pay", execute: ({ idempotencyKey }) => payments.push(idempotencyKey) > 0 });

async function open(file: string): Promise<Andante> {
  const store = sqliteStore({ path: file });
  const andante = createAndante({ workflows: { approval }, store, logger: silentLogger });
  onTestFinished(() => andante.close({ grace: 0 }).catch(() => undefined));
  await andante.ready();
  return andante;
}

function newDatabase(): { readonly file: string; readonly backup: string } {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-roll-back-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { file: path.join(folder, "andante.db"), backup: path.join(folder, "backups/before.db") };
}

/** The change that a later release makes when it opens the file. */
function migrateAhead(file: string): number {
  const database = new DatabaseSync(file);
  const known = Number(database.prepare("pragma user_version").get()?.user_version);
  database.exec(`create table of_a_later_release (id text); pragma user_version = ${known + 1}`);
  database.close();
  return known;
}

test("a database whose version has not changed is opened, and nothing else is needed", async () => {
  const { file } = newDatabase();
  const newer = await open(file);
  await newer.execute("approval", {}, { executionId: "waits" });
  await newer.close();
  const older = await open(file);
  expect(await older.resume("approval", "waits", "yes")).toMatchObject({ status: "completed" });
});

test("a database of a newer release is refused, and its backup from before the upgrade continues", async () => {
  const { file, backup } = newDatabase();
  const before = await open(file);
  for (const executionId of ["one", "two"]) await before.execute("approval", {}, { executionId });
  const script = path.join(root, "deploy/backup.mjs");
  execFileSync(process.execPath, [script, file, backup], { stdio: "ignore" });
  // After the upgrade one of them ends, and another one begins.
  await before.resume("approval", "one", "yes");
  await before.execute("approval", {}, { executionId: "since" });
  await before.close();
  const paid = payments.at(-1);
  const known = migrateAhead(file);

  const [, sentence = ""] = /\*\*A file .*?\*\*: `(.*?)`/.exec(page) ?? [];
  const refusal = sentence.replace(/is \d+,/, `is ${known + 1},`).replace(/knows \d+:/, `knows ${known}:`);
  expect(refusal).toContain(`knows ${known}`);
  await expect(open(file)).rejects.toThrow(refusal);

  // The restore, as docs/operating.md says.
  for (const each of ["", "-wal", "-shm"]) rmSync(`${file}${each}`, { force: true });
  copyFileSync(backup, file);
  const older = await open(file);
  await expect(older.state("approval", "since")).rejects.toMatchObject({ status: 404 });
  for (const executionId of ["one", "two"]) {
    expect(await older.resume("approval", executionId, "yes")).toMatchObject({ status: "completed" });
  }
  // It repeats its calls to the outside world since then, with the same key.
  expect(payments.filter((key) => key === paid)).toHaveLength(2);
  expect(new Set(payments.slice(-2)).size).toBe(2);
});
