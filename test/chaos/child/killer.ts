// Ends this process at the moment that the instructions name.
import type { Counts, Kill } from "../instructions.ts";

export class Killer {
  readonly #kill: Kill;
  /** Writes to the journal and moments inside bodies so far, by execution. */
  readonly counts: Counts = {};
  #writes = 0;
  #moments = 0;

  constructor(kill: Kill) {
    this.#kill = kill;
  }

  /** A body is at work. */
  moment(executionId: string): void {
    this.#count(executionId, "moments");
    this.#moments++;
    if (this.#kill.kind === "body" && this.#kill.number === this.#moments) die();
  }

  /** Makes a write to a journal, unless the process has to end first. */
  write<Answer>(
    executionId: string,
    make: () => Promise<Answer>,
    pretend: () => Answer | undefined = () => undefined,
  ): Promise<Answer> {
    this.#count(executionId, "writes");
    const number = ++this.#writes;
    const kill = this.#kill;
    if (kill.kind === "lie" && number > kill.number) die();
    if (kill.kind === "lie" && number === kill.number) {
      const pretended = pretend();
      if (pretended !== undefined) return Promise.resolve(pretended);
    }
    if (kill.kind === "write" && kill.number === number) return this.#around(kill.phase, make);
    return make();
  }

  /** Claims abandoned executions, unless the process has to end first. */
  claim<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    return this.#kill.kind === "claim" ? this.#around(this.#kill.phase, make) : make();
  }

  #count(executionId: string, what: "writes" | "moments"): void {
    const counts = this.counts[executionId] ?? { writes: 0, moments: 0 };
    this.counts[executionId] = counts;
    counts[what]++;
  }

  async #around<Answer>(phase: "before" | "during" | "after", make: () => Promise<Answer>): Promise<Answer> {
    if (phase === "before") die();
    const answer = make();
    // One turn of the event loop: the call has gone to the writer's thread, which may be anywhere in its transaction.
    if (phase === "during") await new Promise((resolve) => setImmediate(resolve));
    else await answer;
    return die();
  }
}

/** Ends this process as `kill -9` does. Nothing runs after it, not even for the moment until the signal arrives. */
export function die(): never {
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error("SIGKILL did not end this process");
}
