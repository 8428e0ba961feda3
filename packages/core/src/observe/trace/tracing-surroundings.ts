// The dependencies of the traces of one Andante: the sources and the receivers of spans.
import type { SpanChunk, TraceRoot } from "../../store/observation-store.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import type { Logger } from "../log/logger.ts";

/** Where the list of traces, and the spans that no journal holds, are kept. */
export interface TraceSink {
  root(root: TraceRoot): void;
  chunk(chunk: SpanChunk): void;
}

export interface TracingSurroundings {
  readonly store: Store;
  readonly sink: TraceSink;
  readonly logger: Logger;
  readonly clock: Pick<Clock, "now">;
}
