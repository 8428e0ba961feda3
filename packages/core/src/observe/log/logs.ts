// The log lines of one Andante: those that are kept, and those that come.
import type { StoredLog } from "../../store/observation-store.ts";
import type { Store } from "../../store/store.ts";
import { firstIdAt, type LogFeed, type LogLine, type LogRecord } from "./log-feed.ts";
import { checkLogFilter, type LogFilter, matchesLog } from "./log-filter.ts";
import { rankOf } from "./log-level.ts";
import { RowsElsewhere } from "./rows-elsewhere.ts";

/** Lines of other processes in one read. */
const maxElsewhere = 1000;

/** A follower of the lines. */
export interface LogFollowing {
  /** The id of the last line before: with `kept` there is no gap, and nothing comes twice. */
  readonly after: number;
  stop(): void;
}

/** The lines that a follower begins with. */
export interface KeptLines {
  readonly records: readonly LogRecord[];
  /** Whether a line that is followed was there when these were read. */
  includes(line: LogLine): boolean;
}

/** The writer, which may hold lines that the store does not have yet. */
export interface Flushable {
  flush(): Promise<void>;
}

export class Logs {
  readonly #store: Store;
  readonly #feed: LogFeed;
  readonly #writer: Flushable;
  readonly #elsewhere: RowsElsewhere<StoredLog> | undefined;

  constructor(store: Store, feed: LogFeed, writer: Flushable) {
    this.#store = store;
    this.#feed = feed;
    this.#writer = writer;
    const { logsElsewhere } = store.observations;
    this.#elsewhere =
      logsElsewhere &&
      new RowsElsewhere<StoredLog>({
        now: () => feed.now,
        limit: maxElsewhere,
        read: ({ from, limit }) => logsElsewhere({ from: firstIdAt(from), limit }),
        keyOf: lineKey,
        show: (line) => feed.show(line),
      });
  }

  /** The newest lines that match, oldest first. */
  async list(filter: LogFilter = {}): Promise<readonly LogRecord[]> {
    return recordsOf(await this.#read(filter));
  }

  /** The first lines of a follower: the newest that match, oldest first. `after` is the id of the last line before. */
  async kept(filter: LogFilter, after: number): Promise<KeptLines> {
    // Lines of others have their times, and come to the store later.
    const elsewhere = await this.#elsewhere?.read();
    const includes = (line: LogLine) =>
      line.node === undefined
        ? line.id <= after
        : elsewhere !== undefined && (line.timestamp < elsewhere.from || elsewhere.keys.has(lineKey(line)));
    const lines = await this.#read(filter, this.#elsewhere === undefined ? after : undefined);
    return { records: recordsOf(lines.filter(includes)), includes };
  }

  async #read(filter: LogFilter, upTo?: number): Promise<readonly StoredLog[]> {
    checkLogFilter(filter);
    await this.#writer.flush();
    const { level, since, until, limit = 100, ...ids } = filter;
    return this.#store.observations.logs({
      ...ids,
      level: level && rankOf(level),
      from: since && firstIdAt(since.getTime()),
      upTo: Math.min(upTo ?? Number.MAX_SAFE_INTEGER, lastIdAt(until)),
      limit,
    });
  }

  /** The id of the last line so far. */
  get last(): number {
    return this.#feed.last;
  }

  /** Hands every line from now on to `follower`. */
  follow(follower: (line: LogLine) => void, filter: LogFilter = {}): LogFollowing {
    checkLogFilter(filter);
    const after = this.#feed.last;
    const stop = this.#feed.follow((line) => {
      if (matchesLog(filter, line)) follower(line);
    });
    const leave = this.#elsewhere?.follow();
    return {
      after,
      stop: () => {
        stop();
        leave?.();
      },
    };
  }
}

/** Ids are unique within a process. */
function lineKey({ node, id }: Pick<LogLine, "node" | "id">): string {
  return `${node} ${id}`;
}

function recordsOf(lines: readonly StoredLog[]): readonly LogRecord[] {
  return lines.map((line) => JSON.parse(line.record));
}

/** The last id of this millisecond. */
function lastIdAt(until: Date | undefined): number {
  return until === undefined ? Number.MAX_SAFE_INTEGER : firstIdAt(until.getTime() + 1) - 1;
}
