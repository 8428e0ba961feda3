// Sends one client, in order, the entries of a feed that the host's `authorize` allows.
import type { EntryIds, Permission } from "../auth/permission.ts";

/** Maximum entries that wait for the host's decision; beyond it the oldest are dropped. */
const maxWaiting = 1000;

export interface FeedClient<T> {
  readonly permission: Permission;
  idsOf(entry: T): EntryIds;
  send(entries: readonly T[]): void;
  /** The host's `authorize` failed. */
  failed(error: unknown): void;
}

export class PermittedFeed<T> {
  readonly #client: FeedClient<T>;
  readonly #waiting: (readonly T[])[] = [];
  #count = 0;
  #deciding = false;

  constructor(client: FeedClient<T>) {
    this.#client = client;
  }

  /** Clients may share an array of entries: it is passed on unchanged where all are allowed. */
  add(entries: readonly T[]): void {
    if (entries.length === 0) return;
    this.#waiting.push(entries);
    this.#count += entries.length;
    while (this.#count > maxWaiting) {
      const oldest = this.#waiting.shift() ?? [];
      const kept = oldest.slice(this.#count - maxWaiting);
      if (kept.length > 0) this.#waiting.unshift(kept);
      this.#count -= oldest.length - kept.length;
    }
    if (!this.#deciding) void this.#decide();
  }

  #take(): readonly T[] {
    const batches = this.#waiting.splice(0);
    this.#count = 0;
    const [first = [], ...others] = batches;
    return others.length === 0 ? first : batches.flat();
  }

  async #decide(): Promise<void> {
    const { permission, idsOf, send, failed } = this.#client;
    this.#deciding = true;
    try {
      while (this.#waiting.length > 0) {
        const entries = this.#take();
        send(await permission.visible(entries, idsOf));
      }
    } catch (error) {
      failed(error);
    } finally {
      this.#deciding = false;
    }
  }
}
