// One store for several Andantes, which hear of each other as processes on a shared database do.
import type { ClusterListener } from "../../src/store/cluster-channel.ts";
import type { Store } from "../../src/store/store.ts";
import { wrapStore } from "./wrapped-store.ts";

export interface SharedStoreOptions {
  /** Whether hints arrive. Default: true. */
  readonly hints?: boolean;
  /** Milliseconds. Default: 60 000. */
  readonly lease?: number;
  /** Milliseconds. Default: 0. */
  readonly clockOffset?: number;
}

/** Makes the store as one more process sees it. */
export function sharedStore(
  store: Store,
  { hints = true, lease = 60_000, clockOffset = 0 }: SharedStoreOptions = {},
) {
  const listeners = new Set<ClusterListener>();
  return (operations: Partial<Store> = {}, offset = clockOffset): Store => {
    let own: ClusterListener | undefined;
    const others = () => (hints ? [...listeners].filter((listener) => listener !== own) : []);
    const base = { ...store, ...operations };
    const telling =
      <Argument, Result>(
        operation: (argument: Argument) => Promise<Result>,
        idOf: (argument: Argument) => string,
      ) =>
      async (argument: Argument): Promise<Result> => {
        const result = await operation(argument);
        for (const listener of others()) listener.wrote(new Set([idOf(argument)]));
        return result;
      };
    return wrapStore(base, {
      create: telling(base.create, ({ executionId }) => executionId),
      commit: telling(base.commit, ({ executionId }) => executionId),
      pause: telling(base.pause, ({ executionId }) => executionId),
      resume: telling(base.resume, ({ executionId }) => executionId),
      cancel: telling(base.cancel, ({ executionId }) => executionId),
      release: async (release) => {
        await base.release(release);
        if (release.offer) for (const listener of others()) listener.offered();
      },
      beginTurn: telling(base.beginTurn, ({ turn }) => turn.executionId),
      endTurn: telling(base.endTurn, ({ commit }) => commit.executionId),
      clusterChannel: {
        lease,
        clockOffset: offset,
        listen(listener) {
          own = listener;
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        askToStop(executionId) {
          for (const listener of others()) listener.stop(executionId);
        },
      },
    });
  };
}
