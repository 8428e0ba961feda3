// The log lines of one Andante: those that are kept, and those that come.
import type { Store } from "../../store/store.ts";
import { LinesElsewhere } from "./lines-elsewhere.ts";
import { firstIdAt, type LogFeed, type LogLine, type LogRecord } from "./log-feed.ts";
import { checkLogFilter, type LogFilter, matchesLog } from "./log-filter.ts";
import { rankOf } from "./log-level.ts";

/** Someone follows the lines. */
export interface LogFollowing {
  /** The id of the last line before: `list({ …, upTo })` and the lines that follow leave no gap and overlap nowhere. */
  readonly after: number;
  stop(): void;
}

/** What may still hold lines that the store does not have yet. */
export interface Flushable {
  flush(): Promise<void>;
}

export class Logs {
  readonly #store: Store;
  readonly #feed: LogFeed;
  readonly #writer: Flushable;
  readonly #elsewhere: LinesElsewhere | undefined;

  constructor(store: Store, feed: LogFeed, writer: Flushable) {
    this.#store = store;
    this.#feed = feed;
    this.#writer = writer;
    const shared = store.observations.logsElsewhere !== undefined;
    this.#elsewhere = shared ? new LinesElsewhere(store.observations, feed) : undefined;
  }

  /** The newest lines that match, oldest first. `upTo` leaves out lines after this id. */
  async list(filter: LogFilter = {}, upTo?: number): Promise<readonly LogRecord[]> {
    checkLogFilter(filter);
    await this.#writer.flush();
    const { level, since, until, limit = 100, ...ids } = filter;
    const lines = await this.#store.observations.logs({
      ...ids,
      level: level && rankOf(level),
      from: since && firstIdAt(since.getTime()),
      upTo: Math.min(upTo ?? Number.MAX_SAFE_INTEGER, lastIdAt(until)),
      limit,
    });
    return lines.map((line) => JSON.parse(line.record));
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

/** The last id of this millisecond. */
function lastIdAt(until: Date | undefined): number {
  return until === undefined ? Number.MAX_SAFE_INTEGER : firstIdAt(until.getTime() + 1) - 1;
}
