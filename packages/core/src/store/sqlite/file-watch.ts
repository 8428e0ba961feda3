// Whether the database file can still be written, and is still the one that was opened.
import { statfsSync, statSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";

/** Less room than this counts as full: the next commit may not fit. */
const minPages = 16;
const minBytes = 1_000_000;

interface WatchedFile {
  readonly file: string;
  readonly identity: string | undefined;
}

export class FileWatch {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #files: readonly WatchedFile[];

  /** Remembers which files were opened; a database in memory has none. */
  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#path = file;
    const files = file === ":memory:" ? [] : [file, `${file}-wal`];
    this.#files = files.map((each) => ({ file: each, identity: identityOf(each) }));
  }

  /** Why it cannot be written, or should not be; null when nothing is in the way. */
  problem(): string | null {
    for (const { file, identity } of this.#files) {
      const now = identityOf(file);
      if (identity === undefined || now === identity) continue;
      // Later commits go to a file without a name, and are gone with this process.
      return `the database file was ${now === undefined ? "removed" : "replaced"} while it is open`;
    }
    return this.#isFull() ? "the disk, or the database file within its limit, is full" : null;
  }

  /** The size of the database on the disk, its log included; null when it is in memory. */
  bytes(): number | null {
    if (this.#files.length === 0) return null;
    return this.#files.reduce((total, { file }) => total + (statOf(file)?.size ?? 0), 0);
  }

  #isFull(): boolean {
    const left = this.#pragma("max_page_count") - this.#pragma("page_count") + this.#pragma("freelist_count");
    if (left < minPages) return true;
    if (this.#files.length === 0) return false;
    const { bavail, bsize } = statfsSync(path.dirname(this.#path));
    return bavail * bsize < minBytes;
  }

  #pragma(name: string): number {
    return Number(Object.values(this.#database.prepare(`pragma ${name}`).get() ?? {})[0] ?? 0);
  }
}

function statOf(file: string) {
  return statSync(file, { throwIfNoEntry: false });
}

function identityOf(file: string): string | undefined {
  const found = statOf(file);
  return found && `${found.dev}:${found.ino}`;
}
