// The claims of this process: the name under which it takes them, and those that are on their way to a driver.
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "../../errors/index.ts";

export class Claims {
  #owner: string = randomUUID();
  /** A heartbeat under this name has reached the store: before that its claims count as abandoned. */
  #isAnnounced = false;
  /** Tokens of claims that are being taken and handed on, and the keys that such tokens begin with. */
  readonly #onTheirWay = new Set<string>();

  /** This incarnation of the process, as claims name it. */
  get owner(): string {
    return this.#owner;
  }

  /** The owner of a new claim; refused until a heartbeat under its name has reached the store. */
  get taker(): string {
    if (this.#isAnnounced) return this.#owner;
    const problem = "the lease of this process has ended, and no heartbeat has reached the store since";
    throw new StoreUnavailableError({ cause: new Error(problem) });
  }

  /** True while claims may be taken. */
  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  /** A heartbeat under this name has reached the store. */
  announced(owner: string): void {
    if (owner === this.#owner) this.#isAnnounced = true;
  }

  /** The lease has ended: recovery finds the claims made so far like those of any dead process. */
  rename(): void {
    this.#owner = randomUUID();
    this.#isAnnounced = false;
  }

  /**
   * Does work that asks the store for a claim and ends once a driver or a queue has it, or it was not granted. `key` is
   * the token, or the part before the last "." of several.
   */
  async during<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    this.#onTheirWay.add(key);
    try {
      return await work();
    } finally {
      this.#onTheirWay.delete(key);
    }
  }

  /** Whether the claim with this token is on its way. */
  holds(token: string): boolean {
    const dot = token.lastIndexOf(".");
    return this.#onTheirWay.has(token) || (dot !== -1 && this.#onTheirWay.has(token.slice(0, dot)));
  }
}
