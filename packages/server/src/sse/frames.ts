// The frames of server-sent events, in batches: events that are available without waiting share one write.
//
// A provider's packet contains several deltas, and a write through the listener's streams costs more than the frame.

/** An event to send: any JSON value, with the event's number in the journal if it has one. */
export interface SentEvent {
  readonly type?: string;
  readonly sequence?: number;
}

/** A batch of frames; `over` for the last one, with the error of failed events. */
export interface FrameBatch {
  readonly text: string;
  readonly over: boolean;
  readonly error?: unknown;
}

/** Characters after which a batch is written: large enough to save writes, small enough to buffer. */
const enough = 16 * 1024;

export class FrameReader {
  readonly #events: AsyncIterator<SentEvent>;
  readonly #withIds: boolean;
  #text = "";
  #over = false;
  #error: unknown;
  #isReading = false;
  #isScheduled = false;
  #deliver: ((batch: FrameBatch) => void) | undefined;

  constructor(events: AsyncIterator<SentEvent>, withIds: boolean) {
    this.#events = events;
    this.#withIds = withIds;
  }

  /** Waits for the next event and the ones available right after it. Do not call it while an earlier call waits. */
  next(): Promise<FrameBatch> {
    return new Promise((resolve) => {
      this.#deliver = resolve;
      this.#proceed();
    });
  }

  /** Reads only while a call waits: a client that stalls applies backpressure to the source. */
  #proceed(): void {
    if (this.#deliver === undefined) return;
    if (this.#over || this.#text.length >= enough) return this.#flush();
    if (this.#text !== "" && !this.#isScheduled) {
      this.#isScheduled = true;
      // Runs once no promise is left to settle: later events are not available yet.
      process.nextTick(this.#tick);
    }
    if (this.#isReading) return;
    this.#isReading = true;
    // Handles a failure of the source and an event that is not JSON alike.
    this.#events.next().then(this.#take).catch(this.#fail);
  }

  readonly #take = (result: IteratorResult<SentEvent>) => {
    this.#isReading = false;
    if (result.done === true) this.#over = true;
    else this.#text += frame(result.value, this.#withIds);
    this.#proceed();
  };

  readonly #fail = (error: unknown) => {
    this.#error = error;
    this.#over = true;
    this.#proceed();
  };

  readonly #tick = () => {
    this.#isScheduled = false;
    if (this.#text !== "") this.#flush();
  };

  #flush(): void {
    const deliver = this.#deliver;
    if (deliver === undefined) return;
    this.#deliver = undefined;
    const text = this.#text;
    this.#text = "";
    deliver({ text, over: this.#over, error: this.#error });
  }
}

function frame(event: SentEvent, withIds: boolean): string {
  const id = withIds && event.sequence !== undefined ? `id: ${event.sequence}\n` : "";
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}
