// The other processes that share the store: notices their writes to executions that run here, or that callers here wait
// for or follow. Their hints make it quick; a look into the store every few seconds makes it sure.
import type { Observation } from "../../observe/observation.ts";
import type { ClusterChannel } from "../../store/cluster-channel.ts";
import type { ExecutionHead, ExecutionKind, Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import type { TurnoverMap } from "../../values/turnover-map.ts";
import type { Driver } from "../run/driver.ts";
import type { Changes } from "../stream/changes.ts";
import type { Feed } from "../stream/feed.ts";
import type { Claims } from "./claims.ts";
import type { EngineKind } from "./engine-kind.ts";
import type { StorageWatch } from "./storage-watch.ts";
import type { Waiters } from "./waiters.ts";

/** The executions that concern this process. */
export interface ClusterMember {
  readonly store: Store;
  readonly storage: StorageWatch;
  /** The drivers of the executions that run here, by executionId. */
  readonly drivers: TurnoverMap<string, Driver>;
  readonly waiters: Waiters;
  readonly feed: Feed;
  readonly changes: Changes;
  readonly observation: Observation;
  readonly clock: Clock;
  readonly claims: Pick<Claims, "owner">;
  kind(name: ExecutionKind): Pick<EngineKind, "hasSpans" | "isAddressable" | "settlesAsleep">;
  /** Whether an execution is being created here. */
  isStarting(executionId: string): boolean;
}

/** Stops turns; most of those that others name do not run here. */
interface TurnStopper {
  stopTurn(executionId: string): void;
}

/** Looks for work that others have left behind. */
interface WorkFinder {
  look(): void;
}

/** Milliseconds between two looks at everything that concerns this process. */
const lookPeriod = 2000;
/** The number of executions per read of the store. */
const headsAtOnce = 1000;

export class Cluster {
  readonly #member: ClusterMember;
  readonly #clusterChannel: ClusterChannel;
  /** Executions to read, because another process has written to them. */
  readonly #written = new Set<string>();
  #looking = false;
  #timer: NodeJS.Timeout | undefined;
  #leave: () => void = () => undefined;

  constructor(member: ClusterMember, clusterChannel: ClusterChannel) {
    this.#member = member;
    this.#clusterChannel = clusterChannel;
  }

  start(turns: TurnStopper, finders: readonly WorkFinder[]): void {
    this.#leave = this.#clusterChannel.listen({
      wrote: (executionIds) => this.#receive(executionIds),
      offered: () => {
        for (const finder of finders) finder.look();
      },
      stop: (executionId) => turns.stopTurn(executionId),
    });
    this.#timer = setInterval(() => this.#receive(undefined), lookPeriod).unref();
  }

  stop(): void {
    this.#leave();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #receive(executionIds: ReadonlySet<string> | undefined): void {
    const { changes } = this.#member;
    const spans = this.#followedSpans;
    for (const executionId of executionIds ?? this.#concerns()) {
      if (
        executionIds === undefined ||
        changes.followed ||
        spans !== undefined ||
        this.#isConcern(executionId)
      )
        this.#written.add(executionId);
    }
    if (executionIds === undefined) void spans?.look();
    if (!this.#looking && this.#written.size > 0) void this.#lookAtAll();
  }

  /** Undefined while no client follows the spans of all executions. */
  get #followedSpans() {
    const elsewhere = this.#member.observation.tracing?.elsewhere;
    return elsewhere?.followed ? elsewhere : undefined;
  }

  /** The executions that run here, and those that callers here wait for or follow. */
  #concerns(): readonly string[] {
    const { drivers, waiters, feed } = this.#member;
    return [...drivers.keys(), ...waiters.keys(), ...feed.keys(), ...(this.#followedSpans?.keys() ?? [])];
  }

  #isConcern(executionId: string): boolean {
    const { drivers, waiters, feed } = this.#member;
    return drivers.has(executionId) || waiters.has(executionId) || feed.has(executionId);
  }

  async #lookAtAll(): Promise<void> {
    const { store, storage, drivers } = this.#member;
    this.#looking = true;
    try {
      while (this.#written.size > 0 && this.#timer !== undefined) {
        const executionIds = [...this.#written].slice(0, headsAtOnce);
        for (const executionId of executionIds) this.#written.delete(executionId);
        // The heads are older than executions created meanwhile, and are not compared with those.
        const known = executionIds.filter((id) => !this.#member.isStarting(id));
        const before = new Map(known.map((id) => [id, drivers.get(id)]));
        for (const head of await store.heads(executionIds)) {
          this.#look(head, before.get(head.executionId));
          before.delete(head.executionId);
        }
        for (const [executionId, driver] of before) this.#gone(executionId, driver);
      }
    } catch (error) {
      // The next look comes soon.
      storage.failed(error);
    } finally {
      this.#looking = false;
    }
  }

  /** It was deleted. */
  #gone(executionId: string, before: Driver | undefined): void {
    const { drivers, waiters, feed } = this.#member;
    const driver = drivers.get(executionId);
    if (driver !== before) return;
    driver?.stop({ kind: "elsewhere" }, new Error("The execution was deleted"));
    waiters.settle(executionId, { kind: "elsewhere" });
    feed.close(executionId);
  }

  #look(head: ExecutionHead, before: Driver | undefined): void {
    const { executionId, status, sequence, owner, paused, parked } = head;
    const { drivers, feed, changes, waiters } = this.#member;
    const driver = drivers.get(executionId);
    if (driver !== undefined && driver === before) this.#notifyDriver(driver, head);
    feed.nudge(executionId, sequence, status !== "running" && status !== "suspended");
    const kind = this.#member.kind(head.kind);
    // Of an execution without an address only the waits are shown.
    if (changes.followed && (kind.isAddressable || status === "suspended"))
      changes.publishHead(head, this.#member.clock.now());
    if (kind.hasSpans) this.#followedSpans?.reached(head);
    // A branch may still run where another one waits: then it has an owner. The waiting callers read the new state. Where
    // it runs here, its driver notifies them: the row may show this driver's own write.
    const isLeft = owner === null && driver === undefined;
    // One that only sleeps still runs by its status.
    const settled = status === "running" ? parked || (isLeft && kind.settlesAsleep) : paused || isLeft;
    if (settled) waiters.settle(executionId, { kind: "elsewhere" });
  }

  /** A driver holds its claim until it leaves, so another owner has taken the execution over. */
  #notifyDriver(driver: Driver, { owner, sequence }: ExecutionHead): void {
    const taken = owner !== null && owner !== this.#member.claims.owner;
    if (taken)
      driver.stop({ kind: "elsewhere" }, new Error("The execution was taken over by another process"));
    else if (sequence > driver.sequence) driver.look();
  }
}
