// Passes on to one client, in order, the entries of a feed that the host's `authorize` allows it to see.
import type { EntryIds, Permission } from "../auth/permission.ts";

/** Entries that wait for the host's decision; the oldest are left out beyond it. */
const maxWaiting = 1000;

export interface FeedClient<T> {
  readonly permission: Permission;
  idsOf(entry: T): EntryIds;
  send(entries: readonly T[]): void;
  /** The host could not decide. */
  failed(error: unknown): void;
}

export class PermittedFeed<T> {
  readonly #client: FeedClient<T>;
  #waiting: readonly T[] = [];
  #deciding = false;

  constructor(client: FeedClient<T>) {
    this.#client = client;
  }

  add(entries: readonly T[]): void {
    this.#waiting = [...this.#waiting, ...entries].slice(-maxWaiting);
    if (!this.#deciding) void this.#decide();
  }

  async #decide(): Promise<void> {
    const { permission, idsOf, send, failed } = this.#client;
    this.#deciding = true;
    try {
      while (this.#waiting.length > 0) {
        const entries = this.#waiting;
        this.#waiting = [];
        send(await permission.visible(entries, idsOf));
      }
    } catch (error) {
      failed(error);
    } finally {
      this.#deciding = false;
    }
  }
}
