// A store whose process "crashes" at one of its writes: from then on nothing is written, and no call returns.
import type { SettleWork } from "../store/signal-store.ts";
import type { Commit, Store } from "../store/store.ts";
import type { NewStoredEvent } from "../store/stored-event.ts";

/** Where a process ends. */
export interface Crash {
  /**
   * The number of the write, from 1: creations, commits, turns, resumes, pauses, cancellations, wake-ups, changes of schedules
   * and events from outside count.
   */
  readonly write: number;
  /** `lost`: the process ends just before the write is done. `unacknowledged`: just after, before it learns of it. */
  readonly variant: "lost" | "unacknowledged";
}

/** The error of every call after the crash. */
export class CrashedError extends Error {
  constructor() {
    super("The process has crashed in this test: it no longer writes or reads anything");
    this.name = "CrashedError";
  }
}

export interface CrashingStore {
  /** Pass it to `createAndante`. The test itself opens and closes it. */
  readonly store: Store;
  /** How many writes have been asked for. */
  readonly writes: number;
  /** True from the crash on. */
  readonly crashed: boolean;
  /** Resolves at the crash. */
  readonly crash: Promise<void>;
  /** Ends the leases of the dead process, so that the next one takes over at once and not after half a minute. */
  bury(): Promise<void>;
}

/** Without a crash it only counts the writes. */
export function crashingStore(inner: Store, crash?: Crash): CrashingStore {
  return crashingStoreWith(inner, crash);
}

/** The same, with a description of each counted write, such as `step-complete charge, step-start receipt`. */
export function crashingStoreWith(
  inner: Store,
  crash: Crash | undefined,
  wrote: (events: string) => void = () => undefined,
): CrashingStore {
  const happened = Promise.withResolvers<void>();
  const owners = new Set<string>();
  let writes = 0;
  let crashed = false;
  const end = () => {
    crashed = true;
    happened.resolve();
  };
  const call = async <Argument, Result>(run: (argument: Argument) => Promise<Result>, argument: Argument) => {
    if (crashed) throw new CrashedError();
    const result = await run(argument);
    // Calls under way when the process ended take effect, but their result is lost.
    if (crashed) throw new CrashedError();
    return result;
  };
  const passing = <Argument, Result>(run: (argument: Argument) => Promise<Result>) => {
    return (argument: Argument) => call(run, argument);
  };
  const counted = <Argument, Result>(
    run: (argument: Argument) => Promise<Result>,
    eventsOf: (argument: Argument) => string,
  ) => {
    return (argument: Argument) => {
      wrote(eventsOf(argument));
      const isLast = !crashed && ++writes === crash?.write;
      if (isLast && crash?.variant === "lost") end();
      const result = call(run, argument);
      if (isLast) end();
      return result;
    };
  };
  const store: Store = {
    // Definitions and observations are not subject to the crash: reads and writes of them pass.
    ...inner,
    conversations: {
      post: passing((argument) => inner.conversations.post(argument)),
      change: passing((argument) => inner.conversations.change(argument)),
      fork: passing((argument) => inner.conversations.fork(argument)),
      remove: passing((argument) => inner.conversations.remove(argument)),
      removeSummary: passing((argument) => inner.conversations.removeSummary(argument)),
      queue: passing((argument) => inner.conversations.queue(argument)),
      leaveQueue: passing((argument) => inner.conversations.leaveQueue(argument)),
      leftQueues: passing((argument) => inner.conversations.leftQueues(argument)),
      removeUnchanged: passing((argument) => inner.conversations.removeUnchanged(argument)),
      removeUnfinishedFork: passing((argument) => inner.conversations.removeUnfinishedFork(argument)),
      recent: passing((argument) => inner.conversations.recent(argument)),
      messages: passing((argument) => inner.conversations.messages(argument)),
      read: passing((argument) => inner.conversations.read(argument)),
      list: passing((argument) => inner.conversations.list(argument)),
    },
    signals: {
      send: counted(
        (argument) => inner.signals.send(argument),
        (signals) => signals.map(({ name }) => `send ${name}`).join(", "),
      ),
      settle: counted((argument) => inner.signals.settle(argument), ofSettle),
      find: passing((argument) => inner.signals.find(argument)),
      waits: passing((argument) => inner.signals.waits(argument)),
      work: passing((argument) => inner.signals.work(argument)),
      read: passing((argument) => inner.signals.read(argument)),
      bySeq: passing((argument) => inner.signals.bySeq(argument)),
      list: passing((argument) => inner.signals.list(argument)),
      trim: passing((argument) => inner.signals.trim(argument)),
    },
    budgets: {
      hold: passing((argument) => inner.budgets.hold(argument)),
      charge: passing((argument) => inner.budgets.charge(argument)),
      renew: passing((argument) => inner.budgets.renew(argument)),
      accounts: passing((argument) => inner.budgets.accounts(argument)),
      trim: passing((argument) => inner.budgets.trim(argument)),
    },
    schedules: {
      change: counted(
        (argument) => inner.schedules.change(argument),
        ({ scheduleId, row }) => `${row?.kind ?? "remove"} ${scheduleId}`,
      ),
      read: passing((argument) => inner.schedules.read(argument)),
      list: passing((argument) => inner.schedules.list(argument)),
    },
    open: async () => undefined,
    close: async () => undefined,
    create: counted(
      (argument) => inner.create(argument),
      ({ events }) => ofEvents(events),
    ),
    commit: counted((argument) => inner.commit(argument), ofCommit),
    beginTurn: counted(
      (argument) => inner.beginTurn(argument),
      ({ turn }) => ofEvents(turn.events),
    ),
    endTurn: counted(
      (argument) => inner.endTurn(argument),
      ({ commit }) => ofCommit(commit),
    ),
    pause: counted(
      (argument) => inner.pause(argument),
      () => "pause",
    ),
    resume: counted(
      (argument) => inner.resume(argument),
      ({ events }) => ofEvents(events),
    ),
    cancel: counted(
      (argument) => inner.cancel(argument),
      ({ event }) => ofEvents([event]),
    ),
    wake: counted(
      (argument) => inner.wake(argument),
      () => "wake up",
    ),
    endHandled: counted(
      (argument) => inner.endHandled(argument),
      () => "end handled",
    ),
    heartbeat: passing((argument) => {
      owners.add(argument.owner);
      return inner.heartbeat(argument);
    }),
    claimAbandoned: passing((argument) => inner.claimAbandoned(argument)),
    claims: passing((argument) => inner.claims(argument)),
    release: passing((argument) => inner.release(argument)),
    due: passing((argument) => inner.due(argument)),
    state: passing((argument) => inner.state(argument)),
    events: passing((argument) => inner.events(argument)),
    keepSnapshot: passing((argument) => inner.keepSnapshot(argument)),
    snapshot: passing((argument) => inner.snapshot(argument)),
    list: passing((argument) => inner.list(argument)),
  };
  return {
    store,
    get writes() {
      return writes;
    },
    get crashed() {
      return crashed;
    },
    crash: happened.promise,
    async bury() {
      for (const owner of owners) await inner.heartbeat({ owner, lease: 0 });
    },
  };
}

function ofEvents(events: readonly Pick<NewStoredEvent, "type" | "path">[]): string {
  return events.map(({ type, path }) => (path === null ? type : `${type} ${path}`)).join(", ");
}

function ofCommit({ events, following, idle }: Commit): string {
  const all = [...events, ...following, ...(idle?.event ? [idle.event] : [])];
  return ofEvents(all) || (idle ? "idle" : "timers");
}

function ofSettle({ done }: SettleWork): string {
  const kinds = done.flatMap(({ effects = [] }) => effects.map(({ kind }) => kind));
  return ["settle", ...kinds].join(" ");
}
