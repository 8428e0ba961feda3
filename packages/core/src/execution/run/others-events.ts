// Reads the events that other processes have written to an execution that runs here.
import { StoreBusyError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { readJournal } from "../../journal/read-journal.ts";
import type { Store } from "../../store/store.ts";

export interface OthersEventsOptions {
  readonly executionId: string;
  readonly store: Pick<Store, "events">;
  /** The number of the last event that is known. */
  readonly after: number;
  /** True when the storage failed, which is logged once for all executions. */
  storageFailed(error: unknown): boolean;
  /** Called with the events found, in order; also with none. */
  takeIn(events: readonly JournalEvent[]): void;
  /** Called when the journal cannot be read for a permanent reason. `must`: it is needed. */
  failed(error: unknown, must: boolean): void;
}

/** Milliseconds until the journal is read again that could not be read. */
const pause = 500;

export class OthersEvents {
  readonly #options: OthersEventsOptions;
  /** The number of the last event that was read. */
  #after: number;
  #reading = false;
  /** Something may have been written since the read that is under way was begun. */
  #again = false;
  /** Whether the execution waits for the events. */
  #must = false;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(options: OthersEventsOptions) {
    this.#options = options;
    this.#after = options.after;
  }

  /** True while it reads, or waits to read again. */
  get isReading(): boolean {
    return this.#reading;
  }

  /** Others have written. `must`: the execution cannot go idle until these are read, so reading is repeated until it succeeds. */
  look({ must }: { readonly must: boolean }): void {
    if (this.#over) return;
    this.#must ||= must;
    this.#again = this.#reading;
    if (!this.#reading) void this.#read();
  }

  stop(): void {
    this.#over = true;
    this.#reading = false;
    clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    this.#reading = true;
    this.#again = false;
    let found: readonly JournalEvent[];
    try {
      found = await this.#find();
    } catch (error) {
      return this.#failed(error);
    }
    if (this.#over) return;
    this.#after = Math.max(this.#after, found.at(-1)?.sequence ?? 0);
    if (this.#again) return this.#continueAfter(found);
    this.#must = false;
    this.#reading = false;
    this.#options.takeIn(found);
  }

  /** The events found are taken in at once; events written since are read as well. */
  #continueAfter(found: readonly JournalEvent[]): void {
    this.#options.takeIn(found);
    if (!this.#over) void this.#read();
  }

  async #find(): Promise<readonly JournalEvent[]> {
    const { executionId, store } = this.#options;
    const found: JournalEvent[] = [];
    for await (const { events } of readJournal(store, { executionId, after: this.#after }))
      found.push(...events);
    return found;
  }

  #failed(error: unknown): void {
    if (this.#over) return;
    const must = this.#must;
    const passes = this.#options.storageFailed(error) || error instanceof StoreBusyError;
    // Releasing now would leave the execution without a driver: its claim is this live process's.
    if (must && passes) {
      this.#timer = setTimeout(() => void this.#read(), pause).unref();
      return;
    }
    this.#must = false;
    this.#reading = false;
    // The next optional look reads again.
    if (!passes) this.#options.failed(error, must);
  }
}
