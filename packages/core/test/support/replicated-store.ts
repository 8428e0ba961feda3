// A store with an asynchronous replica: one memory store that takes every write after the other, until the replica is
// detached. A failover then loses the later records of the first one.
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";

export interface ReplicatedStore {
  readonly store: Store;
  /** From now on the replica misses all writes. */
  detach(): void;
  /** The replica takes the place of the first one. */
  promote(): void;
  close(): Promise<void>;
}

const writes: ReadonlySet<string> = new Set([
  "create",
  "commit",
  "beginTurn",
  "endTurn",
  "pause",
  "resume",
  "cancel",
  "heartbeat",
  "claimAbandoned",
  "release",
  "wake",
  "endHandled",
  "keepSnapshot",
  "define",
  "adopt",
  "park",
  "unpark",
]);

const conversationWrites: ReadonlySet<string> = new Set(["post", "change", "fork", "remove"]);

export async function replicatedStore(): Promise<ReplicatedStore> {
  const [primary, replica] = [memoryStore(), memoryStore()];
  await Promise.all([primary.open(), replica.open()]);
  let current: Store = primary;
  let attached = true;
  /** The replica takes the writes in the order in which the primary took them. */
  let replayed: Promise<unknown> = Promise.resolve();
  const call = (store: object, name: string, argument: unknown): unknown => {
    const operation: unknown = Reflect.get(store, name);
    return typeof operation === "function" ? Reflect.apply(operation, store, [argument]) : undefined;
  };
  /** The operations of a part of the store: each calls the store that is current then, and the replica follows. */
  const operationsOf = (part: (store: Store) => object, mirrored: ReadonlySet<string>) => {
    const perform = async (name: string, argument: unknown): Promise<unknown> => {
      const mirrors = attached && mirrored.has(name);
      const result = await call(part(current), name, argument);
      if (mirrors) {
        replayed = replayed.then(() => call(part(replica), name, argument));
        await replayed;
      }
      return result;
    };
    const names = Object.keys(part(primary)).filter(
      (name) => typeof Reflect.get(part(primary), name) === "function",
    );
    return Object.fromEntries(names.map((name) => [name, (argument: unknown) => perform(name, argument)]));
  };
  const conversations = {
    ...primary.conversations,
    ...operationsOf((store) => store.conversations, conversationWrites),
  };
  return {
    store: { ...primary, ...operationsOf((store) => store, writes), conversations },
    detach: () => {
      attached = false;
    },
    promote: () => {
      attached = false;
      current = replica;
    },
    close: async () => {
      await Promise.all([primary.close(), replica.close()]);
    },
  };
}
