// The one way in which tests put themselves between an Andante and its store.
import type { Store } from "../../src/store/store.ts";
import { boundedWait } from "./in-time.ts";

/**
 * The same store with some operations replaced, for an Andante that does not own it: opening and closing it is
 * someone else's business.
 */
export function wrapStore(store: Store, operations: Partial<Store> = {}): Store {
  return { ...store, open: async () => undefined, close: async () => undefined, ...operations };
}

export interface HeldOperation<Argument, Result> {
  /** In place of the operation. */
  readonly run: (argument: Argument) => Promise<Result>;
  /** From now on calls wait. */
  hold(): void;
  /** Resolves when a call waits. */
  readonly asked: Promise<void>;
  /** Lets the calls that wait, and all later ones, through. */
  release(): void;
}

/** An operation whose calls can be held up, as a slow disk does. */
export function heldOperation<Argument, Result>(
  operation: (argument: Argument) => Promise<Result>,
): HeldOperation<Argument, Result> {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let holds = false;
  return {
    get asked() {
      return boundedWait(asked.promise, "the call of the operation");
    },
    hold: () => {
      holds = true;
    },
    release: () => gate.resolve(),
    run: async (argument) => {
      if (holds) {
        asked.resolve();
        await gate.promise;
      }
      return operation(argument);
    },
  };
}

export interface MortalStore {
  readonly store: Store;
  /** The leases of the process end, as those of one that hangs do. */
  expire(): Promise<void>;
  /** The process ends: from now on it neither receives nor sends, and its leases are over. */
  die(): Promise<void>;
}

/** The store of a process that ends on request of the test, and not at a certain write as with `crashingStore`. */
export function mortalStore(store: Store): MortalStore {
  const owners = new Set<string>();
  const never = new Promise<never>(() => undefined);
  let dead = false;
  const alive =
    <Argument, Result>(operation: (argument: Argument) => Promise<Result>) =>
    async (argument: Argument): Promise<Result> => {
      if (dead) return never;
      const result = await operation(argument);
      return dead ? never : result;
    };
  const expire = async () => {
    for (const owner of owners) await store.heartbeat({ owner, lease: 0 });
  };
  return {
    store: wrapStore(store, {
      create: alive(store.create),
      commit: alive(store.commit),
      release: alive(store.release),
      claimAbandoned: alive(store.claimAbandoned),
      heartbeat: alive((beat) => {
        owners.add(beat.owner);
        return store.heartbeat(beat);
      }),
    }),
    expire,
    async die() {
      dead = true;
      await expire();
    },
  };
}

/**
 * Shows rows one event behind until a resume is written, as if another event came between the read and the write: the load
 * after the resume has to read the store.
 */
export function behindUntilResume(store: Store): Pick<Store, "state" | "resume"> {
  let isBehind = true;
  return {
    state: async (executionId) => {
      const state = await store.state(executionId);
      if (state === undefined || !isBehind) return state;
      return { ...state, execution: { ...state.execution, sequence: state.execution.sequence - 1 } };
    },
    resume: (resume) => {
      isBehind = false;
      return store.resume(resume);
    },
  };
}
