// Rows that other processes add to a shared store, such as log lines, for followers in this process: read about once a
// second, and only while there are followers. Each row is shown once.

export interface RowsElsewhereOptions<Row> {
  /** By the clock that the processes share. */
  now(): number;
  /** The newest rows of other processes from this time on, oldest first. */
  read(query: { readonly from: number; readonly limit: number }): Promise<readonly Row[]> | undefined;
  keyOf(row: Row): string;
  show(row: Row): void;
  /** The most rows of one read. */
  readonly limit: number;
}

/** The newest rows at one moment. */
export interface RowsThen {
  /** Earlier rows are no longer read. */
  readonly from: number;
  readonly keys: ReadonlySet<string>;
}

/** Milliseconds between two reads. */
const period = 1000;
/** Milliseconds that are read again each time: a row may be written a while after its time. */
const overlap = 5000;

export class RowsElsewhere<Row extends { readonly timestamp: number }> {
  readonly #options: RowsElsewhereOptions<Row>;
  /** The rows of the last read; undefined before the first. */
  #known: RowsThen | undefined;
  #followers = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #since = 0;

  constructor(options: RowsElsewhereOptions<Row>) {
    this.#options = options;
  }

  /** Shows rows until the returned function is called. */
  follow(): () => void {
    if (this.#followers++ === 0) {
      this.#since = this.#options.now();
      this.#timer = setInterval(() => this.#start(), period).unref();
      this.#start();
    }
    let follows = true;
    return () => {
      if (!follows) return;
      follows = false;
      if (--this.#followers > 0) return;
      clearInterval(this.#timer);
      this.#known = undefined;
    };
  }

  /** Shows the current rows, and returns them; later ones follow. */
  async read(): Promise<RowsThen | undefined> {
    // A read that is under way may have begun before the caller's rows were written.
    await this.#reading;
    this.#start();
    await this.#reading;
    return this.#known;
  }

  #start(): void {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
  }

  async #readOnce(): Promise<void> {
    const { now, read, keyOf, show, limit } = this.#options;
    try {
      const from = now() - overlap;
      const rows = (await read({ from, limit })) ?? [];
      if (this.#followers === 0) return;
      const before = this.#known;
      const [oldest] = rows.length < limit ? [] : rows;
      this.#known = { from: oldest ? oldest.timestamp + 1 : from, keys: new Set(rows.map(keyOf)) };
      // Rows from before the first follower are not shown; late rows are, also with an earlier time.
      const isNew = (row: Row) =>
        before === undefined ? row.timestamp >= this.#since : !before.keys.has(keyOf(row));
      for (const row of rows) if (isNew(row)) show(row);
    } catch {
      // The storage watch reports the trouble; the next read covers the same time.
    }
  }
}
