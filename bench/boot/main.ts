// Measures a start of the built packages beside Hono with the AI SDK, in one run: from the start of the process to its
// first response, the processor time until then, and the memory when it is idle afterwards.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../http/contender.ts";
import { requestText } from "../http/load.ts";
import { requireBuiltPackages } from "../http/servers.ts";
import { inTemporaryFolder, median } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { install } from "./install.ts";

const rounds = paced({ quick: 5, short: 7, full: 11 });

interface Application {
  readonly name: string;
  readonly script: string;
  /** The first request. */
  readonly path: string;
  /** Undefined for one that only reads. */
  readonly body?: string | undefined;
  /** With `@ai-sdk/otel` installed, which is optional. */
  readonly withSpansOfAgents?: boolean;
  /** Whether its memory is measured, which takes a second. */
  readonly untilIdle?: boolean;
}

const reply = { path: "/agents/bench/text", body: '{"input":"hello"}' };
const execution = { path: "/workflows/double/execute", body: '{"input":{"n":21}}' };
const list = { path: "/workflows" };
const applications = {
  honoReply: { name: "Hono and the AI SDK, a reply", script: "hono.mjs", ...reply, untilIdle: true },
  honoSum: { name: "Hono and the AI SDK, a sum", script: "hono.mjs", ...execution },
  list: { name: "Andante with an agent, a list", script: "andante.mjs", ...list },
  execution: { name: "Andante with an agent, an execution", script: "andante.mjs", ...execution },
  reply: { name: "Andante with an agent, its reply", script: "andante.mjs", ...reply, untilIdle: true },
  tracedReply: {
    name: "Andante with an agent and @ai-sdk/otel, its reply",
    script: "andante.mjs",
    ...reply,
    withSpansOfAgents: true,
  },
  plain: {
    name: "Andante without agents, an execution",
    script: "without-agents.mjs",
    ...execution,
    untilIdle: true,
  },
} satisfies Record<string, Application>;

interface Start {
  /** Milliseconds to the first response. */
  readonly time: number;
  /** Milliseconds of processor time until then, all threads. */
  readonly cpu: number;
  /** Megabytes of resident memory, idle. */
  readonly memory: number;
}

interface Folders {
  /** The installation that the README describes. */
  readonly plain: string;
  /** And `@ai-sdk/otel`. */
  readonly traced: string;
}

async function measure(application: Application, folders: Folders, round: number): Promise<Start> {
  const port = await freePort();
  const folder = application.withSpansOfAgents === true ? folders.traced : folders.plain;
  const database = path.join(
    folder,
    `${application.script}-${application.path.split("/").at(-1)}-${round}.db`,
  );
  const start = performance.now();
  const script = path.join(folder, application.script);
  const child = spawn(process.execPath, [script, String(port), database], { stdio: "inherit" });
  const ended = once(child, "exit");
  try {
    while (!(await responds(application, port))) {
      if (child.exitCode !== null) throw new Error(`${application.name} ended before it responded`);
      await pause(2);
    }
    const time = performance.now() - start;
    const cpu = processorTime(child.pid);
    if (application.untilIdle === true) await pause(1000);
    return { time, cpu, memory: residentMemory(child.pid) };
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

/**
 * Sends the first request; false while it does not listen yet, and throws when it responds with anything but 200. A bare
 * socket, because repeated requests must not take the second core from the measured process.
 */
function responds({ name, path, body }: Application, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => socket.write(textOf({ path, body })));
    socket.once("error", () => resolve(false));
    socket.setEncoding("latin1").once("data", (text: string) => {
      socket.destroy();
      if (text.startsWith("HTTP/1.1 200")) resolve(true);
      else reject(new Error(`${name} responded with ${text.slice(0, 200)}`));
    });
  });
}

function textOf({ path, body }: Pick<Application, "path" | "body">): string {
  return body === undefined ? `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n` : requestText({ path, body });
}

// Clock ticks per second in /proc are 100 on every Linux that Node runs on.
function processorTime(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function residentMemory(pid: number | undefined): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

/** The parts of a start; each includes the parts before it. */
const parts = [
  "node",
  "zod, Hono and its listener",
  "and the AI SDK",
  "and Andante's packages in place of the AI SDK",
  "and a thread that does nothing",
  "and a new database file on its thread",
];

function measurePart(part: string, folder: string, round: number): Pick<Start, "time" | "cpu"> {
  const database = path.join(folder, `part-${parts.indexOf(part)}-${round}.db`);
  const { stdout } = spawnSync(process.execPath, [path.join(folder, "part.mjs"), part, database]);
  return JSON.parse(String(stdout));
}

function tellPart(part: string, taken: readonly Pick<Start, "time" | "cpu">[]): Budget {
  const time = median(taken.map((each) => each.time));
  const cpu = median(taken.map((each) => each.cpu));
  return {
    name: `parts of a start: ${part}`,
    value: `${time.toFixed(0)} ms`,
    budget: "none",
    held: true,
    note: `${cpu.toFixed(0)} ms of processor`,
  };
}

function compare(name: string, ours: readonly number[], theirs: readonly number[], limit: number): Budget {
  const ratio = median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
  return {
    name,
    value: `${ratio.toFixed(2)} ×`,
    budget: `at most ${limit} ×`,
    held: ratio <= limit,
    note: `${median(ours).toFixed(0)} against ${median(theirs).toFixed(0)}`,
  };
}

requireBuiltPackages();
const taken = new Map(parts.map((part) => [part, [] as Pick<Start, "time" | "cpu">[]]));
type Key = keyof typeof applications;
const keys = Object.keys(applications) as Key[];
const measured = Object.fromEntries(keys.map((key) => [key, []])) as unknown as Record<Key, Start[]>;
await inTemporaryFolder(async (folder) => {
  const folders = { plain: path.join(folder, "plain"), traced: path.join(folder, "traced") };
  install(folders.plain, ["@ai-sdk/otel"]);
  install(folders.traced, []);
  // The first round fills the file cache and does not count.
  for (let round = -1; round < rounds; round++) {
    for (const key of keys) {
      const start = await measure(applications[key], folders, round);
      if (round >= 0) measured[key].push(start);
    }
    for (const [part, times] of taken) {
      const time = measurePart(part, folders.plain, round);
      if (round >= 0) times.push(time);
    }
  }
});
const of = (key: Key, what: keyof Start) => measured[key].map((start) => start[what]);
const responses = [
  ["an execution, with an agent", "execution", "honoSum"],
  ["an execution, without agents", "plain", "honoSum"],
  ["a list, with an agent", "list", "honoSum"],
  ["the reply of an agent", "reply", "honoReply"],
  ["the reply of an agent, with @ai-sdk/otel", "tracedReply", "honoReply"],
] as const;
const budgets = [
  ...responses.map(([name, ours, theirs]) =>
    compare(`start to the first response: ${name}, ms`, of(ours, "time"), of(theirs, "time"), 1.3),
  ),
  ...responses.map(([name, ours, theirs]) =>
    compare(`processor time until then: ${name}, ms`, of(ours, "cpu"), of(theirs, "cpu"), 1.5),
  ),
  compare(
    "idle memory after the reply of an agent, MB",
    of("reply", "memory"),
    of("honoReply", "memory"),
    1.45,
  ),
  compare("idle memory without agents, MB", of("plain", "memory"), of("honoReply", "memory"), 1.25),
  ...Array.from(taken, ([part, times]) => tellPart(part, times)),
];
printBudgets("Boot", budgets);
if (isRecorded) recordBudgets("Boot", "npm run bench:boot", budgets);
process.exitCode = budgets.every((budget) => budget.held) ? 0 : 1;
