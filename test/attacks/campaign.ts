// Runs attacks against a served process, and watches its memory and how soon it responds.
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { Agent, get, type IncomingMessage } from "node:http";
import { setPriority, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { Orders, Outcome } from "./attacker.ts";
import { prepare } from "./prepare.ts";
import { post, type Target } from "./target.ts";

export interface CampaignOptions {
  /** Which attacks run, all at once. */
  readonly names: readonly string[];
  readonly seconds: number;
  /** Whether the time that threads wait for a processor counts as a delay of the server: for a machine without other work. */
  readonly quiet: boolean;
}

export interface CampaignResult {
  readonly outcomes: readonly Outcome[];
  /** Mebibytes that were resident at most. */
  readonly memory: number;
  /** Milliseconds that `/health` took: half of the samples, and all of them, took no longer. */
  readonly median: number;
  readonly slowest: number;
  /** The most of it that is due to the server and not to other processes of the machine, in milliseconds. */
  readonly slowestOwn: number;
  /** Requests of another user that were served meanwhile, and the slowest of them in milliseconds. */
  readonly served: number;
  readonly slowestServed: number;
  /** The longest wait of a new connection for the response to `/health`, in milliseconds; 20 000 and more end without one. */
  readonly slowestConnection: number;
  /** Broken bounds and promises. */
  readonly problems: readonly string[];
}

/** The bounds: mebibytes, and milliseconds. */
export const maxMemory = 1024;
export const maxDelay = 1000;

const source = (file: string) => path.join(import.meta.dirname, file);
const execArgv = ["--conditions=andante-source"];
/** As in `deploy/`: by default Node collects garbage late on a large machine, and the allocator keeps freed blocks. */
const asDeployed = {
  execArgv: [...execArgv, "--max-semi-space-size=16", "--max-old-space-size=1024"],
  env: { ...process.env, MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "131072" },
};

export async function runAttacks({ names, seconds, quiet }: CampaignOptions): Promise<CampaignResult> {
  const folder = await mkdtemp(path.join(tmpdir(), "andante-attacks-"));
  const server = fork(source("child.ts"), [path.join(folder, "andante.db")], {
    ...asDeployed,
  });
  const attackers = names.map((name) => ({ name, child: fork(source("attacker.ts"), { execArgv }) }));
  try {
    const [{ url }] = (await once(server, "message")) as [{ url: string }];
    const target = await prepare(url);
    const attacked = attackers.map(async ({ name, child }): Promise<Outcome> => {
      const over = once(child, "message") as Promise<[Outcome]>;
      // Real attackers have processors of their own: these are not to take the server's.
      if (child.pid !== undefined) setPriority(child.pid, 10);
      const orders: Orders = { target, name, seconds };
      child.send(orders);
      return (await over)[0];
    });
    const ended = new AbortController();
    const watched = watch(server.pid ?? 0, `${url}/health`, ended.signal);
    const others = serveOthers(target, ended.signal);
    const connections = longestConnection(`${url}/health`, ended.signal);
    const outcomes = await Promise.all(attacked);
    ended.abort();
    const { memory, delays } = await watched;
    const { refused, times } = await others;
    const slowestServed = Math.max(0, ...times);
    const slowestConnection = await connections;
    const inOrder = delays.map(({ took }) => took).toSorted((one, other) => one - other);
    const median = inOrder[Math.floor(inOrder.length / 2)] ?? Number.NaN;
    const slowest = inOrder.at(-1) ?? Number.NaN;
    const slowestOwn = Math.max(...delays.map(({ own }) => own));
    const counted = quiet ? slowest : slowestOwn;
    const died = server.exitCode ?? server.signalCode;
    const problems = [
      ...outcomes.flatMap(({ name, broken }) => broken.map((what) => `${name}: ${what}`)),
      ...outcomes
        .filter(({ seen }) => Object.keys(seen).length === 0)
        .map(({ name }) => `${name}: no response was seen`),
      ...refused,
      ...(times.length === 0 ? ["no request of another user was served"] : []),
      ...(died === null ? [] : [`the server ended: ${died}`]),
      ...(memory > maxMemory ? [`${memory} MiB were resident, more than ${maxMemory}`] : []),
      ...(counted > maxDelay ? [`/health took ${counted} ms, more than ${maxDelay}`] : []),
    ];
    const served = times.length;
    const ofOthers = { served, slowestServed, slowestConnection };
    return { outcomes, memory, median, slowest, slowestOwn, ...ofOthers, problems };
  } finally {
    for (const child of [server, ...attackers.map((attacker) => attacker.child)]) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Another user follows the changes, exports a conversation and executes a workflow, one after the other, until the signal. */
async function serveOthers({ url, otherConversationId, users }: Target, signal: AbortSignal) {
  const headers = users.ada;
  const conversation = `/api/conversations/${encodeURIComponent(otherConversationId)}/export`;
  const refused = new Set<string>();
  const times: number[] = [];
  const requests = [
    () => statusOf(`${url}/api/changes`, headers, signal),
    () => statusOf(url + conversation, headers, signal),
    async () => (await post(`${url}/workflows/sum/execute`, { input: { a: 1 } }, headers)).status,
  ];
  for (let n = 0; !signal.aborted; n++) {
    const began = performance.now();
    const status = await connecting(requests[n % requests.length], signal).catch(reasonOf);
    if (status === 200) times.push(Math.round(performance.now() - began));
    else if (!signal.aborted) refused.add(`request ${n % requests.length} of another user: ${status}`);
    await delay(100);
  }
  return { refused: [...refused], times };
}

/**
 * Connects again as clients do: the queue of connections to be accepted is full of those that attackers have left, and the
 * time for it counts.
 */
async function connecting(request: (() => Promise<number>) | undefined, signal: AbortSignal) {
  for (;;)
    try {
      return await request?.();
    } catch (error) {
      if (!connectTimeout.safeParse(error).success || signal.aborted) throw error;
    }
}

const connectTimeout = z.object({ cause: z.object({ code: z.literal("UND_ERR_CONNECT_TIMEOUT") }) });

/** Connects anew for each request, one after another until the signal, and measures the longest wait. */
async function longestConnection(health: string, signal: AbortSignal): Promise<number> {
  let longest = 0;
  while (!signal.aborted) {
    const began = performance.now();
    await isWell(health, false);
    longest = Math.max(longest, Math.round(performance.now() - began));
    await delay(100);
  }
  return longest;
}

/** Why a request has no response: `fetch` keeps it in the cause. */
function reasonOf(error: unknown): string {
  return `no response, ${error instanceof Error ? (error.cause ?? error) : error}`;
}

/** The status alone: the body may have no end. */
async function statusOf(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<number> {
  const left = new AbortController();
  try {
    return (await fetch(url, { headers, signal: AbortSignal.any([left.signal, signal]) })).status;
  } finally {
    left.abort();
  }
}

interface Delay {
  readonly took: number;
  readonly own: number;
}

/** Asks for the health ten times a second, and reads the memory each time, until the signal. */
async function watch(pid: number, url: string, signal: AbortSignal) {
  let memory = 0;
  const delays: Delay[] = [];
  while (!signal.aborted) {
    const [began, before] = [performance.now(), timesOf(pid)];
    const well = await isWell(url);
    const took = Math.round(performance.now() - began);
    // A machine that is too busy for the threads of the store makes the server say after two seconds that it is not well.
    const isLate = well || took > maxDelay;
    delays.push({ took, own: isLate ? ownPart(took, before, timesOf(pid)) : Number.POSITIVE_INFINITY });
    memory = Math.max(memory, residentMemory(pid));
    await delay(100);
  }
  return { memory, delays };
}

/** A monitor keeps its connection: how long a new one waits to be accepted depends on how many others connect. */
const monitor = new Agent({ keepAlive: true, maxSockets: 1 });

async function isWell(url: string, agent: Agent | false = monitor): Promise<boolean> {
  try {
    const request = get(url, { agent, signal: AbortSignal.timeout(20_000) });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    await once(response.resume(), "end");
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

/** By thread: milliseconds that it ran, and that it could have run and waited for a processor. */
type Times = ReadonlyMap<string, { readonly ran: number; readonly waited: number }>;

/**
 * The part of a delay that a machine with free processors would show too: the delay without the time for which any thread
 * waited for a processor, and no less than the processor time of the busiest thread. A busy machine must not fail the campaign.
 */
function ownPart(took: number, before: Times, after: Times): number {
  let [waited, ran] = [0, 0];
  for (const [thread, now] of after) {
    const then = before.get(thread) ?? { ran: 0, waited: 0 };
    waited += now.waited - then.waited;
    ran = Math.max(ran, now.ran - then.ran);
  }
  return Math.round(Math.min(took, Math.max(took - waited, ran)));
}

/** Those of the server, and of this process, which may receive a response late; none on a system without /proc. */
function timesOf(server: number): Times {
  const times = new Map<string, { ran: number; waited: number }>();
  for (const pid of [server, process.pid]) {
    const tasks = `/proc/${pid}/task`;
    if (!existsSync(tasks)) continue;
    for (const thread of readdirSync(tasks)) {
      const [ran = 0, waited = 0] = readProc(`${tasks}/${thread}/schedstat`).split(" ").map(Number);
      times.set(thread, { ran: pid === server ? ran / 1e6 : 0, waited: waited / 1e6 });
    }
  }
  return times;
}

/** The most that was resident until now, in mebibytes; 0 for a process that has ended, or on a system without /proc. */
function residentMemory(pid: number): number {
  const kibibytes = /^VmHWM:\s+(\d+)/m.exec(readProc(`/proc/${pid}/status`))?.[1] ?? 0;
  return Math.round(Number(kibibytes) / 1024);
}

/** Empty where there is none: a thread or the process has ended. */
function readProc(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
