// Schedules that fire every second on three nodes with PostgreSQL, while nodes are killed: each nominal time has one execution.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";

export interface ScheduleCampaign {
  readonly schedules: number;
  /** Milliseconds in which they fire. */
  readonly lasts: number;
  /** Milliseconds between two kills. */
  readonly killEvery: number;
  readonly lease: number;
  /** Every hundredth occurrence is recorded without its execution: only to show that the check sees it. Default: false. */
  readonly loses?: boolean;
  onKill?(kills: number): void;
}

export interface ScheduleVerdict {
  readonly problems: readonly string[];
  readonly kills: number;
  readonly executions: number;
  /** Milliseconds from a nominal time to the start of its execution: the median, and of one in a hundred. */
  readonly late: { readonly p50: number; readonly p99: number };
}

const schema = "schedules";
const file = fileURLToPath(new URL("./node/schedules.ts", import.meta.url));

export async function runScheduleCampaign(options: ScheduleCampaign): Promise<ScheduleVerdict> {
  const { schedules, lasts, killEvery, lease, loses = false } = options;
  const server = await startPostgres({ max_connections: 100 });
  const nodes: ChildProcess[] = [];
  const start = async () => {
    const args = [
      "--conditions=andante-source",
      file,
      server.url,
      schema,
      `${lease}`,
      `${schedules}`,
      `${loses}`,
    ];
    const node = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    nodes.push(node);
    const [first] = await Promise.race([once(node, "message"), once(node, "exit")]);
    if (typeof first === "number" || first === null) throw new Error("a node of the campaign has ended");
  };
  try {
    await Promise.all([start(), start(), start()]);
    const client = new pg.Client(server.url);
    await client.connect();
    const from = await now(client);
    const begun = performance.now();
    let kills = 0;
    let starting = Promise.resolve();
    for (let next = killEvery; next < lasts; next += killEvery) {
      await wait(Math.max(0, begun + next - performance.now()));
      await starting;
      await kill(nodes.shift());
      kills += 1;
      options.onKill?.(kills);
      starting = start();
      // It is awaited before the next kill.
      starting.catch(() => undefined);
    }
    await wait(Math.max(0, begun + lasts - performance.now()));
    await starting;
    const until = (await now(client)) - 1000;
    const found = await settled(client, until, schedules);
    await client.end();
    return { ...check(found, { from, until, schedules }), kills };
  } finally {
    await Promise.all(nodes.map(kill));
    await server.remove();
  }
}

async function kill(node: ChildProcess | undefined): Promise<void> {
  if (node === undefined || node.exitCode !== null || node.signalCode !== null) return;
  const ended = once(node, "exit");
  node.kill("SIGKILL");
  await ended;
}

async function now(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ now: string }>(
    "select floor(extract(epoch from clock_timestamp()) * 1000) as now",
  );
  return Number(rows[0]?.now);
}

interface Fired {
  readonly scheduleId: string;
  readonly at: number;
  readonly startAt: number;
  readonly status: string;
}

/** Milliseconds in which the nodes catch up after the last kill. */
const patience = 120_000;

/** The executions of all times until then, once the cursors of the schedules have passed it and all have ended. */
async function settled(client: pg.Client, until: number, schedules: number): Promise<readonly Fired[]> {
  const giveUp = performance.now() + patience;
  for (;;) {
    const { rows } = await client.query<{ behind: string; waiting: string; open: string }>(
      `select count(*) filter (where (body::jsonb ->> 'cursorAt')::bigint < $1) as behind,
         count(*) filter (where jsonb_array_length(body::jsonb -> 'waiting') > 0) as waiting,
         (select count(*) from ${schema}.executions where end_at is null and start_at <= $1) as open
       from ${schema}.schedules where kind = 'schedule'`,
      [until],
    );
    const [{ behind, waiting, open } = { behind: "1", waiting: "1", open: "1" }] = rows;
    const isSettled = Number(behind) === 0 && Number(open) === 0 && Number(waiting) < schedules;
    if (isSettled || performance.now() > giveUp) break;
    await wait(500);
  }
  const { rows } = await client.query<{ execution_id: string; start_at: string; status: string }>(
    `select execution_id, start_at, status from ${schema}.executions`,
  );
  return rows.map(({ execution_id, start_at, status }) => {
    const [scheduleId = "", time = ""] = execution_id.split("@");
    return { scheduleId, at: timeOf(time), startAt: Number(start_at), status };
  });
}

/** 20270328T010000Z */
function timeOf(text: string): number {
  return Date.parse(text.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

/** All schedules exist from the time `from` on. */
export function check(
  fired: readonly Fired[],
  { from, until, schedules }: { readonly from: number; readonly until: number; readonly schedules: number },
): Omit<ScheduleVerdict, "kills"> {
  const problems: string[] = [];
  const byId = Map.groupBy(fired, ({ scheduleId }) => scheduleId);
  if (byId.size !== schedules) problems.push(`${byId.size} of ${schedules} schedules have fired`);
  for (const [scheduleId, all] of byId) {
    const times = all.map(({ at }) => at).filter((at) => at <= until);
    const known = new Set(times);
    for (let at = Math.ceil(from / 1000) * 1000; at <= until; at += 1000)
      if (!known.has(at)) problems.push(`${scheduleId} has no execution for ${new Date(at).toISOString()}`);
    if (known.size !== times.length)
      problems.push(`${scheduleId} has ${times.length - known.size} executions too many`);
  }
  const open = fired.filter(({ at, status }) => at <= until && status !== "completed");
  for (const { scheduleId, at, status } of open)
    problems.push(`${scheduleId} at ${new Date(at).toISOString()} is ${status}`);
  const late = fired.map(({ at, startAt }) => startAt - at).sort((a, b) => a - b);
  const part = (share: number) => late[Math.floor((late.length - 1) * share)] ?? 0;
  return { problems, executions: fired.length, late: { p50: part(0.5), p99: part(0.99) } };
}
