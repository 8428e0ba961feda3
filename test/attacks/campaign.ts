// Runs attacks against a served process, and watches its memory and how soon it responds.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { setPriority, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Orders, Outcome } from "./attacker.ts";
import { prepare } from "./target.ts";

export interface CampaignOptions {
  /** Which attacks run, all at once. */
  readonly names: readonly string[];
  readonly seconds: number;
}

export interface CampaignResult {
  readonly outcomes: readonly Outcome[];
  /** Mebibytes that were resident at most. */
  readonly memory: number;
  /** Milliseconds that `/health` took: half of the samples, and all of them, took no longer. */
  readonly median: number;
  readonly slowest: number;
  /** What must not have happened. */
  readonly problems: readonly string[];
}

/** The bounds: mebibytes, and milliseconds. */
export const maxMemory = 1024;
export const maxDelay = 1000;

const source = (file: string) => path.join(import.meta.dirname, file);
const execArgv = ["--conditions=andante-source"];

export async function runAttacks({ names, seconds }: CampaignOptions): Promise<CampaignResult> {
  const folder = await mkdtemp(path.join(tmpdir(), "andante-attacks-"));
  const server = fork(source("child.ts"), [path.join(folder, "andante.db")], { execArgv });
  const attacker = fork(source("attacker.ts"), { execArgv });
  try {
    const [{ url }] = (await once(server, "message")) as [{ url: string }];
    const target = await prepare(url);
    const over = once(attacker, "message") as Promise<[readonly Outcome[]]>;
    const orders: Orders = { target, names, seconds };
    // Real attackers have processors of their own: these are not to take the server's.
    if (attacker.pid !== undefined) setPriority(attacker.pid, 10);
    attacker.send(orders);
    const ended = new AbortController();
    const watched = watch(server.pid ?? 0, `${url}/health`, ended.signal);
    const [outcomes] = await over;
    ended.abort();
    const { memory, delays } = await watched;
    const inOrder = delays.toSorted((one, other) => one - other);
    const median = inOrder[Math.floor(inOrder.length / 2)] ?? Number.NaN;
    const slowest = inOrder.at(-1) ?? Number.NaN;
    const died = server.exitCode ?? server.signalCode;
    const problems = [
      ...outcomes.flatMap(({ name, broken }) => broken.map((what) => `${name}: ${what}`)),
      ...(died === null ? [] : [`the server ended: ${died}`]),
      ...(memory > maxMemory ? [`${memory} MiB were resident, more than ${maxMemory}`] : []),
      ...(slowest > maxDelay ? [`/health took ${slowest} ms, more than ${maxDelay}`] : []),
    ];
    return { outcomes, memory, median, slowest, problems };
  } finally {
    for (const child of [server, attacker]) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asks for the health ten times a second, and reads the memory each time, until the signal. */
async function watch(pid: number, url: string, signal: AbortSignal) {
  let memory = 0;
  const delays: number[] = [];
  while (!signal.aborted) {
    const began = performance.now();
    const isWell = await fetch(url, { signal: AbortSignal.timeout(20_000) }).then(
      async (response) => (await response.text()) !== "" && response.status === 200,
      () => false,
    );
    delays.push(isWell ? Math.round(performance.now() - began) : Number.POSITIVE_INFINITY);
    memory = Math.max(memory, residentMemory(pid));
    await delay(100);
  }
  return { memory, delays };
}

/** The most that was resident until now, in mebibytes; 0 for a process that has ended, or on a system without /proc. */
function residentMemory(pid: number): number {
  try {
    const kibibytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0;
    return Math.round(Number(kibibytes) / 1024);
  } catch {
    return 0;
  }
}
