// Writes to the store in the background, soon after entries were added, and removes old entries now and then. Nothing
// waits for it.
import { StoreRefusedError } from "../errors/index.ts";
import type { Logger } from "./log/logger.ts";

export abstract class BackgroundWriter<Entry> {
  readonly #logger: Logger;
  readonly #noun: string;
  readonly #trimTimer: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #trimming: Promise<void> | undefined;
  #closed = false;

  /** `noun` names the entries in log lines. */
  constructor(trimPeriod: number, logger: Logger, noun: string) {
    this.#logger = logger;
    this.#noun = noun;
    const start = () => {
      this.#trimming ??= this.trim()
        .catch((err) => logger.debug({ err }, `old ${noun} could not be removed`))
        .finally(() => (this.#trimming = undefined));
    };
    this.#trimTimer = setInterval(start, trimPeriod).unref();
  }

  /** Writes the entries that wait. Returns the milliseconds until the next write; undefined when none is needed. */
  protected abstract write(): Promise<number | undefined>;

  /** Decides which entries are too old. The returned function removes some of them, and returns how many. */
  protected abstract trimmer(): Promise<() => Promise<number>>;

  /** Adds the entries to the store, all or none. */
  protected abstract append(entries: readonly Entry[]): Promise<void>;

  /** Counts entries that the store refused. */
  protected abstract countRefused(entries: readonly Entry[]): void;

  /**
   * Writes the batches in order and takes each written one out; after an error of the store the rest stays. A batch that the
   * store refuses would be refused again: it is halved until the refused entries are alone, and these are dropped.
   */
  protected async writeBatches(batches: (readonly Entry[])[]): Promise<void> {
    const refused: Entry[] = [];
    let cause: unknown;
    for (let [first] = batches; first !== undefined; [first] = batches) {
      try {
        await this.append(first);
        batches.shift();
      } catch (err) {
        if (!(err instanceof StoreRefusedError)) {
          this.#logger.debug({ err }, `${this.#noun} could not be written; trying again`);
          break;
        }
        const middle = Math.ceil(first.length / 2);
        if (first.length > 1) batches.splice(0, 1, first.slice(0, middle), first.slice(middle));
        else {
          batches.shift();
          refused.push(...first);
          cause = err;
        }
      }
    }
    if (refused.length === 0) return;
    this.countRefused(refused);
    const text = `${this.#noun} were dropped: the store refused them`;
    this.#logger.warn({ err: cause, lost: refused.length }, text);
  }

  protected get closed(): boolean {
    return this.#closed;
  }

  protected schedule(delay: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, delay).unref();
  }

  /** Resolves when earlier entries are written, or cannot be now. */
  async flush(): Promise<void> {
    // The running write may have begun before the last of them came.
    await this.#writing;
    await this.#write();
  }

  /** Removes entries beyond the bounds. */
  async trim(): Promise<void> {
    const removeSome = await this.trimmer();
    while (!this.#closed && (await removeSome()) > 0);
  }

  async close(): Promise<void> {
    clearInterval(this.#trimTimer);
    await this.flush();
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#trimming;
  }

  #write(): Promise<void> {
    this.#writing ??= this.write().then((delay) => {
      this.#writing = undefined;
      if (delay !== undefined) this.schedule(delay);
    });
    return this.#writing;
  }
}
