// Everything that one Andante observes of itself: log lines, spans and figures, with the writer that keeps them.
import type { Store } from "../store/store.ts";
import { LogFeed } from "./log-feed.ts";
import { type LogOptions, levelOf, retentionOf } from "./log-options.ts";
import { createLogger, type Logger } from "./logger.ts";
import { Logs } from "./logs.ts";
import { ObservationWriter } from "./observation-writer.ts";
import { ObservedLogger } from "./observed-logger.ts";

export interface ObservationOptions {
  readonly store: Store;
  /** The host's own. Default: pino on standard output. */
  readonly logger?: Logger | undefined;
  readonly logs?: LogOptions | undefined;
}

export class Observation {
  /** Its lines reach the host's logger, followers and the store. */
  readonly logger: Logger;
  readonly logs: Logs;
  readonly #writer: ObservationWriter;

  constructor(options: ObservationOptions) {
    const { store, logger: host = createLogger(), logs = {} } = options;
    this.#writer = new ObservationWriter({
      store: store.observations,
      logger: host,
      logs: retentionOf("logs", logs),
      traces: retentionOf("tracing", {}),
    });
    const feed = new LogFeed(this.#writer, levelOf(logs.level));
    this.logger = new ObservedLogger(host, feed);
    this.logs = new Logs(store, feed, this.#writer);
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }
}
