// The spans of agents that other processes have called, for followers in this process. They are in no journal: they are
// read from the store about once a second, each call as a whole once it has ended, only while there are followers.
import type { ObservationStore } from "../../store/observation-store.ts";
import type { SpanOwner, SpanRecord } from "./span-record.ts";

export interface CallsElsewhereOptions {
  readonly store: ObservationStore;
  /** By the clock that the processes share. */
  now(): number;
  notify(type: "span-start" | "span-end", span: SpanRecord, owner: SpanOwner): void;
}

/** Milliseconds between two reads. */
const period = 1000;
/** Milliseconds that are read again each time: spans may be written a while after the call has ended. */
const overlap = 5000;
const limit = 200;

export class CallsElsewhere {
  readonly #options: CallsElsewhereOptions;
  #shown: ReadonlySet<string> = new Set();
  #followers = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  #since = 0;

  constructor(options: CallsElsewhereOptions) {
    this.#options = options;
  }

  /** Shows them until the function that it returns is called; the caller calls it once. */
  follow(): () => void {
    if (this.#followers++ === 0) {
      this.#since = this.#options.now();
      this.#timer = setInterval(() => void this.#read(), period).unref();
    }
    return () => {
      if (--this.#followers > 0) return;
      clearInterval(this.#timer);
      this.#shown = new Set();
    };
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const { store, now } = this.#options;
    try {
      const from = Math.max(this.#since, now() - overlap);
      const chunks = (await store.spansElsewhere?.({ from, limit })) ?? [];
      const before = this.#shown;
      this.#shown = new Set(chunks.map(({ id }) => id));
      for (const { id, spans } of chunks) if (!before.has(id)) this.#show(JSON.parse(spans));
    } catch {
      // Trouble of the storage is told elsewhere; the next read begins where this one did.
    } finally {
      this.#reading = false;
    }
  }

  /** They were kept in the order in which they ended, the outermost last. */
  #show(spans: readonly SpanRecord[]): void {
    if (this.#followers === 0) return;
    const { notify } = this.#options;
    for (const span of spans.toReversed()) notify("span-start", openOf(span), ownerOf(span));
    for (const span of spans) notify("span-end", span, ownerOf(span));
  }
}

/** The span as it was when it began. */
function openOf({ message: _, ...span }: SpanRecord): SpanRecord {
  return { ...span, endTime: null, duration: null, status: "unset", events: [] };
}

function ownerOf({ attributes }: SpanRecord): SpanOwner {
  const { "user.id": userId, "gen_ai.conversation.id": conversationId } = attributes;
  return { userId: textOrNull(userId), conversationId: textOrNull(conversationId) };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
