// The frames of server-sent events, several at once: events that can be read without waiting go out in one write.
//
// A provider's packet holds several deltas, and each write through the listener's streams costs more than the frame.

/** An event to send: any JSON value, with a number where the journal has one. */
export interface SentEvent {
  readonly type?: string;
  readonly sequence?: number;
}

/** Frames that were read together; `over` when nothing follows, with the error when the events broke. */
export interface FrameBatch {
  readonly text: string;
  readonly over: boolean;
  readonly error?: unknown;
}

/** Characters of a write: enough to be worth it, and little for a client that then goes away. */
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

  /** Waits for the next event, and takes those right behind it. Not to be called while an earlier call waits. */
  next(): Promise<FrameBatch> {
    return new Promise((resolve) => {
      this.#deliver = resolve;
      this.#proceed();
    });
  }

  /** Without anybody who waits nothing more is read: a client that stalls holds its source back. */
  #proceed(): void {
    if (this.#deliver === undefined) return;
    if (this.#over || this.#text.length >= enough) return this.#flush();
    if (this.#text !== "" && !this.#isScheduled) {
      this.#isScheduled = true;
      // Called once no promise is left to settle: later events have to be waited for.
      process.nextTick(this.#tick);
    }
    if (this.#isReading) return;
    this.#isReading = true;
    // Its own failure, and that of an event that is not JSON, end in the same way.
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
