// A streaming replica of a PostgreSQL server of a test, made of a copy of its files; it can be promoted. Its primary waits
// for it with each commit, unless it is asynchronous.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { freePort, type PostgresServer } from "./postgres-server.ts";

export interface StandbyServer {
  readonly url: string;
  readonly port: number;
  /** It receives nothing any more: what is committed from now on is lost with the primary. For an asynchronous one. */
  detach(): Promise<void>;
  /** Makes it the primary; resolves when it takes writes. */
  promote(): Promise<void>;
  remove(): Promise<void>;
}

const name = "standby";

export async function startStandby(
  primary: PostgresServer,
  { synchronous = true }: { readonly synchronous?: boolean } = {},
): Promise<StandbyServer> {
  const directory = `${primary.directory}-standby`;
  const port = await freePort();
  const url = primary.url.replace(`:${primary.port}/`, `:${port}/`);
  const program = await copyFiles(primary, directory);
  const { uid, gid } = statSync(primary.directory);
  const args = ["-D", directory, "-p", String(port), "-k", path.dirname(directory)];
  // As many connections as its primary has, or it refuses to start.
  const settings = ["fsync=off", "max_connections=100", "listen_addresses=127.0.0.1"];
  const flags = settings.flatMap((setting) => ["-c", setting]);
  const child = spawn(program, [...args, ...flags], { uid, gid, stdio: "ignore" });
  const ended = once(child, "exit");
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
    async remove() {
      child.kill("SIGINT");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A copy that the server itself vouches for, told to follow it. Returns the program that runs it. */
async function copyFiles(primary: PostgresServer, directory: string): Promise<string> {
  await on(primary.url, async (client) => {
    await client.query("select pg_backup_start('standby', true)");
    execFileSync("cp", ["-a", primary.directory, directory]);
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    writeFileSync(path.join(directory, "backup_label"), String(rows[0]?.labelfile));
  });
  const started = readFileSync(path.join(directory, "postmaster.opts"), "utf8");
  for (const file of ["postmaster.pid", "postmaster.opts"])
    rmSync(path.join(directory, file), { force: true });
  const { hostname, username, password } = new URL(primary.url);
  const follow = `host=${hostname} port=${primary.port} user=${username} password=${password} application_name=${name}`;
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
