// The claims of this process: the name under which it takes them, and those that are on their way to a driver.
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "../../errors/index.ts";

/** A claim between the write that takes it and the driver or the queue. */
export interface ClaimOnItsWay {
  /** Undefined when the claim may be of any execution. */
  readonly executionId: string | undefined;
  /** Another command of this process has written to the execution: its state has to be read. */
  isOvertaken: boolean;
}

export class Claims {
  #owner: string = randomUUID();
  /** A heartbeat under this name has reached the store: before that its claims count as abandoned. */
  #isAnnounced = false;
  /** Claims that are being taken and handed on, by their token or the key that their tokens begin with. */
  readonly #onTheirWay = new Map<string, ClaimOnItsWay>();

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
  async during<Result>(
    key: string,
    work: (claim: ClaimOnItsWay) => Promise<Result>,
    executionId?: string,
  ): Promise<Result> {
    const claim = { executionId, isOvertaken: false };
    this.#onTheirWay.set(key, claim);
    try {
      return await work(claim);
    } finally {
      this.#onTheirWay.delete(key);
    }
  }

  /** A command has written to this execution: a claim that is on its way may not have seen that. */
  overtake(executionId: string): void {
    for (const claim of this.#onTheirWay.values())
      if (claim.executionId === executionId) claim.isOvertaken = true;
  }

  /** Whether the claim with this token is on its way. */
  holds(token: string): boolean {
    const dot = token.lastIndexOf(".");
    return this.#onTheirWay.has(token) || (dot !== -1 && this.#onTheirWay.has(token.slice(0, dot)));
  }
}
