// Opens the database file: one owner per file, write-ahead log, flushed at each commit.
import { closeSync, openSync, realpathSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { migrate } from "./migrate.ts";

export interface DatabaseOptions {
  /** The file, or ":memory:". */
  readonly path: string;
  /** Refuse to grow past this many bytes, or null. */
  readonly maxBytes: number | null;
  /** This process had it open before: its thread has died. */
  readonly isRestart?: boolean;
  /** Which file it has to be, for a connection beside another; another one may stand in its place by now. */
  readonly inode?: number;
}

/** The writing connection, with the lock that makes this process the owner of the file. */
export function openForWriting({ path, maxBytes, isRestart = false }: DatabaseOptions): {
  database: DatabaseSync;
  close(): void;
} {
  const lock = path === ":memory:" ? undefined : lockFile(`${withoutLinks(path)}-lock`);
  let database: DatabaseSync | undefined;
  try {
    if (path !== ":memory:") createPrivately(path);
    database = new DatabaseSync(path);
    // Only before anything is in the file; one that was made without it cannot shrink in parts. Keeping track of pages
    // costs four hundredths of the writer's time with small rows.
    database.exec("pragma auto_vacuum = incremental");
    // FULL flushes the log at each commit. Once commits are grouped, anything less safe gains almost nothing.
    database.exec(
      "pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -32768; pragma wal_autocheckpoint = 4000",
    );
    if (maxBytes !== null) limitSize(database, maxBytes);
    migrate(database);
    // Earlier owners of executions are gone: the lock proves it, unless this process itself had it.
    // Their rows stay until the next start: recovery of their executions counts as recovery from a crash.
    if (!isRestart)
      database.exec("delete from owners where expires_at = 0; update owners set expires_at = 0");
  } catch (error) {
    database?.close();
    lock?.close();
    throw error;
  }
  const opened = database;
  return {
    database: opened,
    close() {
      opened.close();
      lock?.close();
    },
  };
}

/** A second connection that only reads, beside the writer. */
export function openForReading({ path, inode }: DatabaseOptions): { database: DatabaseSync; close(): void } {
  if (inode !== undefined && statSync(path).ino !== inode)
    throw new Error("the file was replaced while it was open");
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  return { database, close: () => database.close() };
}

/** The target of a link: it has one owner, under any name. Also where there is none yet. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * Creates the file where there is none, for its user alone: it holds callers' data and the secret that approvals are
 * signed with. SQLite gives the files beside it the same mode. A file that exists keeps the mode that an operator chose.
 */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch {
    // SQLite reports why it cannot be opened.
  }
}

// Node has no file locks of its own. SQLite's are held by the operating system, so that they go with the process,
// however it ends; an exclusive transaction on an empty side file leaves the data file free for our reader.
function lockFile(path: string): DatabaseSync {
  createPrivately(path);
  const lock = new DatabaseSync(path);
  try {
    lock.exec("pragma journal_mode = delete; begin exclusive");
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new Error("another process, or another store in this one, has it open");
    }
    throw error;
  }
}

function limitSize(database: DatabaseSync, maxBytes: number): void {
  const size = Number(Object.values(database.prepare("pragma page_size").get() ?? {})[0] ?? 4096);
  database.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxBytes / size))}`);
}
