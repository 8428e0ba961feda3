// Claims in the name of this process that nothing here holds: a claim whose result never arrived, or one that a failover
// to a replica has brought back. Their owner is alive, so no other process takes them over: this one releases them.
import type { ClaimsQuery, Store } from "../../store/store.ts";
import type { Engine } from "./engine.ts";

export type ClaimHolder = Pick<Engine, "holds" | "logger" | "closing"> & {
  readonly claims: Pick<Engine["claims"], "owner">;
  readonly store: Pick<Store, "claims" | "release">;
  readonly storage: Pick<Engine["storage"], "failed">;
};

/** Claims that are read at once. */
const claimsAtOnce = 1000;
/** The looks within one lease: a claim is released at the second one that finds it so. */
const checksPerLease = 3;

export class OrphanedClaims {
  readonly #holder: ClaimHolder;
  readonly #period: number;
  readonly #released: () => void;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  /** The tokens that nothing here held at the last look. */
  #suspects: ReadonlySet<string> = new Set();

  /** `released`: called when there is work without an owner. */
  constructor(holder: ClaimHolder, { lease }: { readonly lease: number }, released: () => void) {
    this.#holder = holder;
    this.#period = lease / checksPerLease;
    this.#released = released;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), this.#period).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async look(): Promise<void> {
    const { storage, logger } = this.#holder;
    if (this.#looking) return;
    this.#looking = true;
    try {
      if ((await this.#release()) > 0) this.#released();
    } catch (err) {
      if (!storage.failed(err)) logger.warn({ err }, "failed to look for claims that nothing here holds");
    } finally {
      this.#looking = false;
    }
  }

  /**
   * How many were released. A claim is held here from before it is asked for until its execution has left, so one that the
   * store shows and nothing here holds afterwards has no driver and will have none. Most of those have just been given
   * back in order: the next look does not find them.
   */
  async #release(): Promise<number> {
    const { store, claims, logger } = this.#holder;
    const { owner } = claims;
    const suspects = new Set<string>();
    let released = 0;
    let after: ClaimsQuery["after"];
    for (;;) {
      const found = await store.claims({ owner, after, limit: claimsAtOnce });
      if (this.#holder.closing) return released;
      const orphans = found.filter(({ executionId, token }) => !this.#holder.holds(executionId, token));
      for (const { executionId, token } of orphans) {
        suspects.add(token);
        if (!this.#suspects.has(token)) continue;
        await store.release({ executionId, token });
        logger.warn({ executionId }, "released a claim in the name of this process that nothing here holds");
        released++;
      }
      after = found.at(-1);
      if (found.length < claimsAtOnce) break;
    }
    this.#suspects = suspects;
    return released;
  }
}
