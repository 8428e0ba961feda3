// Makes the fixtures of a release: `node scripts/run.mjs node test/upgrade/make.ts <release>`. Each life of a situation is
// a process of its own on a real file; where one must have died in the middle of its work it is ended with SIGKILL.
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { fixturesFolder, writeFixture } from "./fixture.ts";
import { record } from "./record.ts";
import type { Life, Situation } from "./situation.ts";
import { situations } from "./situations/index.ts";

const childFile = fileURLToPath(new URL("./child.ts", import.meta.url));
const ranSchema = z.object({ executionId: z.string(), path: z.string() });

async function make(release: string): Promise<void> {
  const target = path.join(fixturesFolder, release);
  if (existsSync(target)) throw new Error(`${target} exists: fixtures of a release are never made again`);
  mkdirSync(target, { recursive: true });
  const folder = mkdtempSync(path.join(tmpdir(), "andante-upgrade-"));
  try {
    for (const [name, situation] of Object.entries(situations))
      await makeOne(name, situation, folder, target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function makeOne(name: string, situation: Situation, folder: string, target: string): Promise<void> {
  const database = path.join(folder, `${name}.db`);
  const log = path.join(folder, `${name}.log`);
  writeFileSync(log, "");
  for (const [number, life] of situation.lives.entries())
    await live(life, [name, String(number), database, log]);
  if (situation.keepsLog !== true) merge(database);
  copyDatabase(database, path.join(target, `${name}.db`));
  const copy = path.join(folder, `${name}-copy.db`);
  copyDatabase(database, copy);
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  const ran = lines.map((line) => ranSchema.parse(JSON.parse(line)));
  const { clock, finish, runs, asks = [] } = situation;
  const fixture = { clock, finish, runs, asks, ...(await record(situation, copy, ran)) };
  writeFileSync(path.join(target, `${name}.json`), writeFixture(fixture));
}

/** Runs a life and makes sure that it ended as it was meant to. */
async function live(life: Life, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ["--conditions=andante-source", childFile, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<NodeJS.Signals | number | null>();
  child.once("error", reject);
  child.once("exit", (code, signal) => resolve(signal ?? code));
  const end = await promise;
  const meant = life.end === "kill" ? "SIGKILL" : 0;
  if (end !== meant) throw new Error(`${args.join(" ")} ended with ${end} in place of ${meant}`);
}

/** Moves what a killed process left in the write-ahead log into the file, and changes nothing else. */
function merge(database: string): void {
  const opened = new DatabaseSync(database);
  opened.exec("pragma wal_checkpoint(truncate)");
  opened.close();
}

/** The index of the log in shared memory and the lock file are made again when the database is opened. */
function copyDatabase(from: string, to: string): void {
  copyFileSync(from, to);
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`);
}

const [release] = process.argv.slice(2);
if (release === undefined) throw new Error("name the release: make.ts <release>");
// Nothing else keeps this process alive while a database with bodies that never end is closed.
const alive = setInterval(() => undefined, 60_000);
await make(release);
clearInterval(alive);
