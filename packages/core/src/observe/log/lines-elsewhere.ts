// Log lines of the other processes that share the store, for followers in this process. They are read from the store
// about once a second, only while there are followers.
import type { ObservationStore } from "../../store/observation-store.ts";
import { firstIdAt, type LogFeed, type LogLine } from "./log-feed.ts";

/** Milliseconds between two reads. */
const period = 1000;
/** Milliseconds that are read again each time: a line may be written a while after it was logged. */
const overlap = 5000;
const limit = 1000;

/** The newest lines of others that the store held at one moment. */
export interface LinesThen {
  /** Lines with a smaller id are not looked for any more. */
  readonly from: number;
  /** By node and id. */
  readonly keys: ReadonlySet<string>;
}

export function lineKey({ node, id }: Pick<LogLine, "node" | "id">): string {
  return `${node} ${id}`;
}

export class LinesElsewhere {
  readonly #store: ObservationStore;
  readonly #feed: LogFeed;
  /** Lines shown so far; undefined before the first read. */
  #shown: LinesThen | undefined;
  #followers = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #since = 0;

  constructor(store: ObservationStore, feed: LogFeed) {
    this.#store = store;
    this.#feed = feed;
  }

  /** Shows them to the feed's followers until the function that it returns is called. */
  follow(): () => void {
    if (this.#followers++ === 0) {
      this.#since = firstIdAt(this.#feed.now);
      this.#timer = setInterval(() => this.#start(), period).unref();
      this.#start();
    }
    let follows = true;
    return () => {
      if (!follows) return;
      follows = false;
      if (--this.#followers > 0) return;
      clearInterval(this.#timer);
      this.#shown = undefined;
    };
  }

  /** Shows and returns the current lines; later ones follow. */
  async read(): Promise<LinesThen | undefined> {
    // The one that is under way may have asked before.
    await this.#reading;
    this.#start();
    await this.#reading;
    return this.#shown;
  }

  #start(): void {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
  }

  async #readOnce(): Promise<void> {
    try {
      const from = firstIdAt(this.#feed.now - overlap);
      const lines = (await this.#store.logsElsewhere?.({ from, limit })) ?? [];
      if (this.#followers === 0) return;
      const before = this.#shown;
      const oldest = lines.length < limit ? from : (lines[0]?.id ?? from);
      this.#shown = { from: oldest, keys: new Set(lines.map(lineKey)) };
      // Lines from before the first follower are not shown; late lines are, also with an earlier time.
      const isNew = (line: LogLine) =>
        before === undefined ? line.id >= this.#since : !before.keys.has(lineKey(line));
      for (const line of lines) if (isNew(line)) this.#feed.show(line);
    } catch {
      // Trouble of the storage is told elsewhere; the next read begins where this one did.
    }
  }
}
