// The servers of one database. Of several, the store uses the one that accepts writes, and finds it again after a failover.
import pg from "pg";

/** PostgreSQL's code for a write that a read-only server refuses. */
const readOnly = "25006";

export class Servers {
  readonly #addresses: readonly string[];
  readonly #timeout: number;
  #current: string;
  #isKnown: boolean;
  #finding: Promise<string> | undefined;

  /** `connectTimeout`: milliseconds that a connection may take. */
  constructor(addresses: readonly string[], connectTimeout: number) {
    this.#addresses = addresses;
    this.#timeout = connectTimeout;
    this.#current = addresses[0] ?? "";
    this.#isKnown = addresses.length === 1;
  }

  /** The address that `find` found last. */
  get current(): string {
    return this.#current;
  }

  /** Whether `current` is the address to connect to. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** The address to connect to. Of several servers all are asked at once, and the first that accepts writes is taken. */
  find(): Promise<string> {
    if (this.#isKnown) return Promise.resolve(this.#current);
    this.#finding ??= this.#ask().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** Rejects when the server of a new connection, one of several, does not accept writes. */
  async check(client: pg.ClientBase): Promise<void> {
    if (this.#addresses.length > 1) await requireWritable(client);
  }

  /** A connection to this address failed: the next `find` asks all servers again. */
  doubt(address: string): void {
    if (this.#addresses.length > 1 && address === this.#current) this.#isKnown = false;
  }

  async #ask(): Promise<string> {
    try {
      this.#current = await Promise.any(this.#addresses.map((address) => this.#requireWritable(address)));
    } catch (error) {
      // A standby among them says more than the servers that do not respond.
      const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
      throw errors.find((each) => each instanceof ReadOnlyError) ?? errors[0];
    }
    this.#isKnown = true;
    return this.#current;
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
