// A streaming replica of a PostgreSQL server of a test, made of a copy of its files; its primary may wait for it with each
// commit, and it can be promoted.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../../../examples/cluster/src/free-ports.ts";
import type { PostgresServer } from "./postgres-server.ts";

export interface StandbyServer extends PostgresServer {
  /** Stops receiving: commits made from now on are lost with the primary. For an asynchronous replica. */
  detach(): Promise<void>;
  /** Makes it the primary; resolves when it takes writes. */
  promote(): Promise<void>;
}

export interface StandbyOptions {
  /** Whether each commit of the primary waits for it. Default: true. */
  readonly synchronous?: boolean;
  /** The port at which it reaches the primary. Default: the primary's. */
  readonly port?: number;
}

const name = "standby";
const copy = promisify(execFile);

export async function startStandby(
  primary: Pick<PostgresServer, "url" | "port" | "directory">,
  { synchronous = true, port: link = primary.port }: StandbyOptions = {},
): Promise<StandbyServer> {
  const directory = `${primary.directory}-standby`;
  const port = await freePort();
  const url = primary.url.replace(`:${primary.port}/`, `:${port}/`);
  const program = await copyFiles(primary, directory, link);
  const { uid, gid } = statSync(primary.directory);
  const args = ["-D", directory, "-p", String(port), "-k", path.dirname(directory)];
  // As many connections as its primary has, or it refuses to start.
  const settings = ["fsync=off", "max_connections=100", "listen_addresses=127.0.0.1"];
  const flags = settings.flatMap((setting) => ["-c", setting]);
  const launch = () => {
    const child = spawn(program, [...args, ...flags], { uid, gid, stdio: "ignore" });
    const ended = once(child, "exit");
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await ended;
    };
    return { child, end };
  };
  let running = launch();
  await on(primary.url, async (client) => {
    await until(
      client,
      `select 1 from pg_stat_replication where application_name = '${name}' and state = 'streaming'`,
    );
    if (!synchronous) return;
    await client.query(`alter system set synchronous_standby_names = '${name}'`);
    await client.query("select pg_reload_conf()");
    await until(client, "select 1 from pg_stat_replication where sync_state = 'sync'");
  });
  return {
    url,
    port,
    directory,
    detach: () =>
      on(url, async (client) => {
        await client.query("alter system set primary_conninfo = ''");
        await client.query("select pg_reload_conf()");
        await until(client, "select 1 where not exists (select from pg_stat_wal_receiver)");
      }),
    promote: () =>
      on(url, async (client) => {
        await client.query("select pg_promote()");
        await until(client, "select 1 where not pg_is_in_recovery()");
      }),
    stop: () => running.end("SIGINT"),
    crash: () => running.end("SIGQUIT"),
    async start() {
      running = launch();
      for (let isUp = false; !isUp; )
        isUp = await on(url, async () => undefined).then(
          () => true,
          () => setTimeout(20, false),
        );
    },
    kill: () => void running.child.kill("SIGKILL"),
    async remove() {
      await running.end("SIGINT");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A base backup of the server, configured to follow it. Returns the program that runs it. */
async function copyFiles(
  primary: Pick<PostgresServer, "url" | "directory">,
  directory: string,
  port: number,
): Promise<string> {
  await on(primary.url, async (client) => {
    await client.query("select pg_backup_start('standby', true)");
    // Files that go away meanwhile are not needed: replaying the write-ahead log replaces them.
    await copy("cp", ["-a", primary.directory, directory]).catch((error: unknown) => {
      if (!String(error).includes("No such file")) throw error;
    });
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    writeFileSync(path.join(directory, "backup_label"), String(rows[0]?.labelfile));
  });
  const started = readFileSync(path.join(directory, "postmaster.opts"), "utf8");
  for (const file of ["postmaster.pid", "postmaster.opts"])
    rmSync(path.join(directory, file), { force: true });
  const { hostname, username, password } = new URL(primary.url);
  const follow = `host=${hostname} port=${port} user=${username} password=${password} application_name=${name}`;
  appendFileSync(path.join(directory, "postgresql.auto.conf"), `primary_conninfo = '${follow}'\n`);
  writeFileSync(path.join(directory, "standby.signal"), "");
  const { uid, gid } = statSync(primary.directory);
  for (const file of ["backup_label", "standby.signal"]) chownSync(path.join(directory, file), uid, gid);
  return started.split(' "')[0] ?? "";
}

async function on(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function until(client: pg.Client, question: string): Promise<void> {
  while ((await client.query(question)).rowCount === 0) await setTimeout(20);
}
