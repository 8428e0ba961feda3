// Log lines of the other processes that share the store, for whoever follows the lines here. They are read from the store
// about once a second, only while somebody follows.
import type { ObservationStore } from "../../store/observation-store.ts";
import { firstIdAt, type LogFeed } from "./log-feed.ts";

/** Milliseconds between two reads. */
const period = 1000;
/** Milliseconds that are read again each time: a line may be written a while after it was logged. */
const overlap = 5000;
const limit = 1000;

export class LinesElsewhere {
  readonly #store: ObservationStore;
  readonly #feed: LogFeed;
  /** What was shown already, by node and id. */
  #shown = new Set<string>();
  #followers = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  #since = 0;

  constructor(store: ObservationStore, feed: LogFeed) {
    this.#store = store;
    this.#feed = feed;
  }

  /** Shows them to the feed's followers until the function that it returns is called. */
  follow(): () => void {
    if (this.#followers++ === 0) {
      this.#since = this.#feed.now;
      this.#timer = setInterval(() => void this.#read(), period).unref();
    }
    let follows = true;
    return () => {
      if (!follows) return;
      follows = false;
      if (--this.#followers > 0) return;
      clearInterval(this.#timer);
      this.#shown.clear();
    };
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const from = firstIdAt(Math.max(this.#since, this.#feed.now - overlap));
      const lines = (await this.#store.logsElsewhere?.({ from, limit })) ?? [];
      const before = this.#shown;
      this.#shown = new Set(lines.map(({ node, id }) => `${node} ${id}`));
      for (const { node, ...line } of lines) {
        if (!before.has(`${node} ${line.id}`)) this.#feed.show(line);
      }
    } catch {
      // Trouble of the storage is told elsewhere; the next read begins where this one did.
    } finally {
      this.#reading = false;
    }
  }
}
