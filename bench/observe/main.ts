// Measures the cost of observation: logs, spans and counts on against off, and execute while many sockets are fed.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { type AndanteOptions, createAndante, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { z } from "zod";
import { three } from "../engine/workflows.ts";
import { inTemporaryFolder, median, percentile, throughput } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";

const scale = paced({ quick: 0.1, short: 0.5, full: 1 });
const logger = createLogger({ level: "error" });

/** The same three steps, one of which writes a line. */
const talkative = createWorkflow({ id: "talkative", input: z.object({ n: z.number() }) })
  .andThen({
    id: "one",
    execute: ({ data, logger: log }) => {
      log.info({ n: data.n }, "a line");
      return data.n + 1;
    },
  })
  .andThen({ id: "two", execute: ({ data }) => data + 1 })
  .andThen({ id: "three", execute: ({ data }) => data + 1 });

/** The workflows whose throughput is compared. */
type Workload = "three" | "talkative";

const off: Omit<Partial<AndanteOptions>, "workflows"> = {
  tracing: false,
  logs: { level: "silent" },
  rollups: false,
};

async function executionsPerSecond(
  file: string,
  workflow: Workload,
  options: Omit<Partial<AndanteOptions>, "workflows">,
): Promise<number> {
  const workflows = { three, talkative };
  const andante = createAndante({ workflows, store: sqliteStore({ path: file }), logger, ...options });
  await andante.ready();
  await throughput(2000, 50, () => andante.execute(workflow, { n: 1 }));
  const result = await throughput(Math.ceil(20_000 * scale), 50, () => andante.execute(workflow, { n: 1 }));
  await andante.close();
  return result;
}

async function onAgainstOff(folder: string, workflow: Workload): Promise<{ share: number; note: string }> {
  const withBoth: number[] = [];
  const without: number[] = [];
  // Taken in turns: a machine that slows down slows both.
  for (let round = 0; round < 5; round++) {
    without.push(await executionsPerSecond(path.join(folder, `${workflow}-off-${round}.db`), workflow, off));
    withBoth.push(await executionsPerSecond(path.join(folder, `${workflow}-on-${round}.db`), workflow, {}));
  }
  const note = `${median(withBoth).toFixed(0)} against ${median(without).toFixed(0)} executions/s`;
  return { share: 1 - median(withBoth) / median(without), note };
}

async function costs(folder: string): Promise<Budget[]> {
  const plain = await onAgainstOff(folder, "three");
  const talking = await onAgainstOff(folder, "talkative");
  const maxShare = 0.25;
  const percent = (share: number) => `${(share * 100).toFixed(0)} % less`;
  return [
    {
      name: "three steps, 50 at once, logs, spans and counts on against off",
      value: percent(plain.share),
      budget: "at most 25 % less",
      held: plain.share <= maxShare,
      note: plain.note,
    },
    {
      name: "the same with a log line in each execution",
      value: percent(talking.share),
      budget: "at most 25 % less",
      held: talking.share <= maxShare,
      note: talking.note,
    },
  ];
}

const script = (name: string, ...args: string[]) =>
  fork(path.join(import.meta.dirname, name), args, { execArgv: ["--conditions=andante-source"] });

async function said<Shape extends z.ZodType>(child: ChildProcess, shape: Shape): Promise<z.output<Shape>> {
  const [message] = await once(child, "message");
  return shape.parse(message);
}

async function executeTimes(url: string, count: number): Promise<number[]> {
  const times: number[] = [];
  const body = JSON.stringify({ input: { n: 1 } });
  for (let index = 0; index < count + 200; index++) {
    const start = performance.now();
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/workflows/three/execute`, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (index >= 200) times.push(performance.now() - start);
  }
  return times;
}

async function whileSocketsAreFed(folder: string): Promise<Budget[]> {
  const server = script("server.ts", path.join(folder, "sockets.db"));
  const { url } = await said(server, z.object({ url: z.string() }));
  const count = Math.ceil(5000 * scale);
  await executeTimes(url, count);
  const idle = percentile(await executeTimes(url, count), 0.99);
  const clients = script("clients.ts", url, "100");
  await said(clients, z.literal("open"));
  server.send("noise");
  const start = performance.now();
  const busy = percentile(await executeTimes(url, count), 0.99);
  const seconds = (performance.now() - start) / 1000;
  const counted = said(clients, z.object({ lines: z.number(), messages: z.number() }));
  server.send("quiet");
  const { written } = await said(server, z.object({ written: z.number() }));
  const got = await counted;
  server.send("close");
  const ratio = busy / idle;
  const delivered = got.lines / (written * 100);
  return [
    {
      name: "execute p99 while 1 000 lines/s go to 100 sockets, against idle",
      value: `${ratio.toFixed(2)} ×`,
      budget: "under 3 ×",
      held: ratio < 3,
      note: `${busy.toFixed(1)} ms against ${idle.toFixed(1)} ms`,
    },
    {
      name: "lines that reached the sockets",
      value: `${(delivered * 100).toFixed(1)} %`,
      budget: "at least 99 %",
      held: delivered >= 0.99,
      note: `${(written / seconds).toFixed(0)} lines/s in ${got.messages} messages`,
    },
  ];
}

const budgets = await inTemporaryFolder(async (folder) => [
  ...(await costs(folder)),
  ...(await whileSocketsAreFed(folder)),
]);
printBudgets("Observability", budgets);
if (isRecorded) recordBudgets("Observability", "npm run bench:observe", budgets);
process.exitCode = budgets.every((budget) => budget.held) ? 0 : 1;
