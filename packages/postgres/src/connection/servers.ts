// The servers of one database. Of several, the store uses the one that accepts writes, and finds it again after a failover.
import pg from "pg";

/** PostgreSQL's code for a write that a read-only server refuses. */
const readOnly = "25006";

export class Servers {
  readonly #addresses: readonly string[];
  readonly #timeout: number;
  #current: string;
  #isKnown: boolean;
  #finding: Promise<void> | undefined;

  /** `connectTimeout`: milliseconds that a connection may take. */
  constructor(addresses: readonly string[], connectTimeout: number) {
    this.#addresses = addresses;
    this.#timeout = connectTimeout;
    this.#current = addresses[0] ?? "";
    this.#isKnown = addresses.length === 1;
  }

  /** The address to connect to. */
  get current(): string {
    return this.#current;
  }

  /** False before `find`, and after a connection has failed: another server may accept the writes. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Finds the address to connect to. Of several servers all are asked at once, and the first that accepts writes is taken. */
  async find(): Promise<void> {
    if (this.#isKnown) return;
    this.#finding ??= this.#ask().finally(() => {
      this.#finding = undefined;
    });
    await this.#finding;
  }

  /** Rejects when the server of a new connection, one of several, does not accept writes. */
  async check(client: pg.ClientBase): Promise<void> {
    if (this.#addresses.length > 1) await requireWritable(client);
  }

  /** A connection failed: the next `find` asks all servers again, where there are several. */
  doubt(): void {
    this.#isKnown = this.#addresses.length === 1;
  }

  async #ask(): Promise<void> {
    try {
      this.#current = await Promise.any(this.#addresses.map((address) => this.#requireWritable(address)));
    } catch (error) {
      // A replica among them is a better reason than a server that does not respond.
      const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
      throw errors.find((each) => each instanceof ReadOnlyError) ?? errors[0];
    }
    this.#isKnown = true;
  }

  async #requireWritable(address: string): Promise<string> {
    const client = new pg.Client({
      connectionString: address,
      connectionTimeoutMillis: this.#timeout,
      query_timeout: this.#timeout,
      application_name: "andante",
    });
    client.on("error", () => {});
    try {
      await client.connect();
      await requireWritable(client);
      return address;
    } finally {
      client.end().catch(() => {});
    }
  }
}

class ReadOnlyError extends Error {
  readonly code = readOnly;
}

async function requireWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(
    "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only",
  );
  if (rows[0]?.read_only !== false) throw new ReadOnlyError("no server of the database accepts writes");
}
