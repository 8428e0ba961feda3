// The engine of one process: which executions it drives, and how they get here.
import { FilePool } from "../../agent/call/file-budget.ts";
import type { BackgroundEnd, Children } from "../../agent/durable/children.ts";
import { FactKeeper } from "../../agent/facts/fact-keeper.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import { ShuttingDownError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import type { Journal } from "../../journal/journal.ts";
import { LinkMaker } from "../../link/link-maker.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import { withChildren } from "../../store/decide/index.ts";
import type { Claim, ExecutionKind, ExecutionRow, Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { SizeLimits } from "../limits/limits.ts";
import { Driver } from "../run/driver.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import { Changes } from "../stream/changes.ts";
import { Feed } from "../stream/feed.ts";
import { KeepAlive } from "../stream/keep-alive.ts";
import { Admission } from "./admission.ts";
import { idleState } from "./after-resume.ts";
import type { HookSubject } from "./call-hooks.ts";
import { ChildExecutions, type ParentRow, type StartLinked } from "./child-executions.ts";
import { Claims } from "./claims.ts";
import { Cluster } from "./cluster.ts";
import { Definitions } from "./definitions.ts";
import type { EngineKind, RunRow } from "./engine-kind.ts";
import { factsOf } from "./execution-facts.ts";
import { type FoldOptions, Folds } from "./folds.ts";
import { loadExecution } from "./load-execution.ts";
import { type ProcessDescription, processDescriber } from "./process-description.ts";
import type { WaitingExecution } from "./run-queue.ts";
import type { Processed, Scheduler } from "./scheduler.ts";
import type { StorageWatch } from "./storage-watch.ts";
import type { Waiters } from "./waiters.ts";
import { WorkflowKind } from "./workflow-kind.ts";

interface EngineOptions {
  readonly store: Store;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /** The kinds of executions beside those of workflows. Default: none. */
  readonly kinds?: readonly EngineKind[];
  readonly waiters: Waiters;
  readonly observation: Observation;
  /** How many executions may run here at once. */
  readonly maxRunning: number;
  /** The part of them that one user may hold while others wait. */
  readonly userShare: number;
  readonly clock: Clock;
  readonly limits: SizeLimits;
  /** The memory that files of agents share. Default: a pool of its own. */
  readonly files?: FilePool;
  /** Default: as `FoldOptions` says. */
  readonly folds?: FoldOptions | undefined;
  readonly storage: StorageWatch;
  /** Fires the timers in the store. */
  readonly scheduler: Pick<Scheduler, "schedule" | "roomFreed" | "look">;
  /** Starts the children of executions. Default: tools cannot start any. */
  readonly startLinked?: StartLinked;
  /** The schedules of this process. Default: none fire here. */
  readonly schedules?: FiredSchedules;
  /** The events of this process. Default: it has none. */
  readonly events?: DeliveredEvents;
  /** Makes the links of bodies. Default: none are configured. */
  readonly links?: LinkMaker;
  /** Makes and sends deliveries of events. Default: there are no endpoints. */
  readonly outbox?: Outbox | undefined;
  readonly deliveries?: FiredDeliveries;
  /** Posts the end of work in the background into its conversation; false when this process cannot. Default: it cannot. */
  readonly postEnd?: (end: BackgroundEnd) => Promise<boolean>;
}

/** Schedules, as the due timers see them. */
export interface FiredSchedules {
  /** Decides on the occurrences that are due. */
  fire(scheduleId: string): Promise<Processed>;
  /** An execution of it has ended. */
  ended(scheduleId: string, execution: Pick<ExecutionRow, "executionId" | "status">): Promise<void>;
}

/** Events, as the due timers see them. */
export interface DeliveredEvents {
  /** Does work that an event, or a wait for one, has left. */
  process(workId: string): Promise<Processed>;
}

/** Deliveries, as the due timers see them. */
export interface FiredDeliveries {
  /** Makes the next attempt at one. */
  deliver(deliveryId: string): Promise<Processed>;
}

export class Engine {
  readonly store: Store;
  readonly changes = new Changes();
  readonly feed = new Feed();
  readonly keepAlive = new KeepAlive();
  readonly waiters: Waiters;
  readonly logger: Logger;
  readonly observation: Observation;
  readonly clock: Clock;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly definitions: Definitions;
  readonly folds: Folds;
  readonly limits: SizeLimits;
  readonly facts: FactKeeper;
  readonly files: FilePool;
  readonly links: LinkMaker;
  readonly storage: StorageWatch;
  readonly admission: Admission;
  /** Executions of workflows. */
  readonly workflowKind: WorkflowKind;
  /** All kinds of executions. */
  readonly kinds: readonly EngineKind[];
  /** The other processes that share the store; undefined where there are none. */
  readonly cluster: Cluster | undefined;
  /** The drivers of the executions that run here, by executionId. */
  readonly drivers = new TurnoverMap<string, Driver>();
  /** Notified when an execution makes progress or is released: `isBusy` may have changed. */
  readonly progress = new ProgressSignal();
  readonly claims = new Claims();
  /** Describes this process. */
  readonly describe: () => ProcessDescription;
  readonly #options: EngineOptions;
  /** Drivers of executions that are being created; an execution of the same id may exist already. */
  readonly #starting = new TurnoverMap<Driver, { readonly claim: Claim; readonly kind: EngineKind }>();
  /** Executions here whose kind takes no slot. */
  readonly #slotless = new Set<string>();
  readonly #loading = new TurnoverMap<string, { readonly token: string; readonly done: Promise<void> }>();
  /** Executions here that have started children in this life: their rows do not say so. */
  readonly #parents = new Set<string>();
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.store = options.store;
    this.workflows = options.workflows;
    this.definitions = new Definitions(options.store, options.workflows, options.clock);
    this.waiters = options.waiters;
    this.observation = options.observation;
    this.logger = options.observation.logger;
    this.clock = options.clock;
    this.storage = options.storage;
    this.limits = options.limits;
    this.facts = new FactKeeper(options.store.facts, options.clock);
    this.files = options.files ?? new FilePool();
    this.links = options.links ?? new LinkMaker(undefined, options.clock);
    this.folds = new Folds(this, options.folds);
    this.feed.followAll((executionId, events) => this.observation.receive(executionId, events));
    this.cluster = options.store.clusterChannel && new Cluster(this, options.store.clusterChannel);
    this.workflowKind = new WorkflowKind(this);
    this.kinds = [this.workflowKind, ...(options.kinds ?? [])];
    this.admission = new Admission({
      ...options,
      limit: options.maxRunning,
      logger: this.logger,
      wakeSleepers: () => options.scheduler.roomFreed(),
      taken: () => this.drivers.size + this.#starting.size + this.#loading.size - this.#slotless.size,
      users: () => this.#withSlots([...this.drivers.values(), ...this.#starting.keys()]).map(userOf),
      run: (waiting) => this.load(waiting),
      release: ({ executionId, claim }) =>
        this.store.release({ executionId, token: claim.token, offer: this.#closing }),
    });
    this.describe = processDescriber(this);
  }

  /** The registered workflow of this id, or the contract's 404. */
  workflow(workflowId: string): WorkflowDefinition {
    return this.definitions.workflow(workflowId);
  }

  kind(name: ExecutionKind): EngineKind {
    const kind = this.kinds.find((each) => each.name === name);
    if (kind === undefined) throw new TypeError(`no kind of executions is named ${name}`);
    return kind;
  }

  get events(): DeliveredEvents | undefined {
    return this.#options.events;
  }

  get schedules(): FiredSchedules | undefined {
    return this.#options.schedules;
  }

  get deliveries(): FiredDeliveries | undefined {
    return this.#options.deliveries;
  }

  get outbox(): Outbox | undefined {
    return this.#options.outbox;
  }

  /** Something in the store falls due at this time. */
  scheduleWakeup(at: number, kind: "sleep" | "limit"): void {
    this.#options.scheduler.schedule(at, kind);
  }

  /** An execution with a parent or children has ended. */
  lookForEnds(): void {
    if (!this.#closing) this.#options.scheduler.look();
  }

  /** Posts the end of work in the background into its conversation; false when this process cannot. */
  async postEnd(end: BackgroundEnd): Promise<boolean> {
    return (await this.#options.postEnd?.(end)) ?? false;
  }

  /** The children of an execution; undefined where none can be started. */
  childrenOf(parent: ParentRow, journal: Journal): Children | undefined {
    const { startLinked } = this.#options;
    const start: StartLinked | undefined =
      startLinked &&
      ((child) => {
        this.#parents.add(parent.executionId);
        return startLinked(child);
      });
    return start && new ChildExecutions(this.store, start, parent, journal);
  }

  /** Publishes committed events of an execution, by default of one of a workflow. */
  publish(
    row: HookSubject & Partial<Pick<ExecutionRow, "kind">>,
    events: readonly JournalEvent[],
    stepIndex?: number,
  ): void {
    this.kind(row.kind ?? "workflow").publish(row, events, stepIndex);
    this.progress.notify();
  }

  /** How many more executions may run here. */
  get room(): number {
    return this.#closing ? 0 : this.admission.slots.room;
  }

  /** True while a body of this workflow runs here. */
  isRunning(workflowId: string): boolean {
    return this.drivers.values().some((driver) => driver.workflowId === workflowId && driver.isRunning);
  }

  /** True while an execution is being started or loaded here, a body runs, or something is being committed. */
  get isBusy(): boolean {
    if (this.#starting.size > 0 || this.#loading.size > 0) return true;
    for (const driver of this.drivers.values()) if (driver.isBusy) return true;
    return false;
  }

  /** How many executions with a slot run here. */
  get running(): number {
    return this.#withSlots(this.drivers.values()).length;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Refuses a new execution of this user while the process stops or is full. */
  checkIntake(userId: string | null): void {
    if (this.#closing) throw new ShuttingDownError();
    this.admission.slots.checkStart(userId);
  }

  /** Makes the driver of an execution that is about to be created; `admit` or `discard` it afterwards. */
  prepare(
    kind: EngineKind,
    row: RunRow,
    execution: LoadedExecution,
  ): { readonly driver: Driver; readonly claim: Claim } {
    const claim = { owner: this.claims.taker, token: execution.token };
    this.#enter(row.executionId, kind);
    const driver = this.#driverOf(kind, row, execution);
    this.#starting.set(driver, { claim, kind });
    return { driver, claim };
  }

  /** The execution is created: its driver runs it. */
  admit(driver: Driver): void {
    const claim = this.#starting.get(driver)?.claim;
    this.#starting.delete(driver);
    this.drivers.set(driver.executionId, driver);
    this.#runClaimed(driver, claim);
  }

  /** The execution was not created: forgets its driver. */
  discard(driver: Driver): void {
    const kind = this.#starting.get(driver)?.kind;
    this.#starting.delete(driver);
    if (kind !== undefined) this.#released(driver.executionId, kind);
    this.#checkIdle();
  }

  /** Loads and runs an execution that was claimed here. A driver that still holds it was overtaken: its claim is void. */
  async load(claimed: Omit<WaitingExecution, "user">): Promise<void> {
    const { executionId, kind } = claimed;
    const { token } = claimed.claim;
    this.#enter(executionId, kind);
    const loading = { token, done: this.#load(claimed, this.#loading.get(executionId)?.done) };
    this.#loading.set(executionId, loading);
    try {
      await loading.done;
    } catch (error) {
      // The claim goes back: the next poll for abandoned executions finds it.
      await this.store.release({ executionId, token, offer: this.#closing }).catch(() => undefined);
      throw error;
    } finally {
      if (this.#loading.get(executionId) === loading) this.#loading.delete(executionId);
      if (!this.has(executionId)) this.#released(executionId, kind);
      this.progress.notify();
    }
  }

  isStarting(executionId: string): boolean {
    return this.#starting.keys().some((driver) => driver.executionId === executionId);
  }

  /** True while the claim with this token is being taken here, waits for a slot, is being loaded or has a driver. */
  holds(executionId: string, token: string): boolean {
    if (this.drivers.get(executionId)?.token === token || this.claims.holds(token)) return true;
    if (this.#loading.get(executionId)?.token === token || this.admission.holds(executionId, token))
      return true;
    return this.#starting.values().some(({ claim }) => claim.token === token);
  }

  /** True when it runs here or is being loaded. */
  has(executionId: string): boolean {
    return this.drivers.has(executionId) || this.#loading.has(executionId);
  }

  /** For a command that has written to the execution: the driver that runs it here, once it has been loaded. */
  async driver(executionId: string): Promise<Driver | undefined> {
    this.claims.overtake(executionId);
    await this.#loading.get(executionId)?.done.catch(() => undefined);
    return this.drivers.get(executionId);
  }

  /** From now on nothing new starts here. */
  stopIntake(): void {
    this.#closing = true;
  }

  /** Stops intake, lets bodies finish for `grace` milliseconds, then releases everything, also without a reply of the store. */
  async close(grace: number): Promise<void> {
    this.stopIntake();
    this.admission.close();
    const patience = 2000;
    await withTimeout(Promise.allSettled(this.#loading.values().map(({ done }) => done)), patience);
    const idle = new Promise<void>((resolve) => (this.#idle = resolve));
    for (const driver of this.drivers.values()) driver.drain();
    this.#checkIdle();
    const timer = setTimeout(() => this.#stopDrivers(), grace);
    await withTimeout(idle, grace + patience);
    clearTimeout(timer);
    this.waiters.settleAll({ kind: "stopped" });
    this.feed.stop();
    this.changes.stop();
  }

  async #load(
    { executionId, kind, claim, dueAt, resumed }: Omit<WaitingExecution, "user">,
    before: Promise<void> | undefined,
  ): Promise<void> {
    await before?.catch(() => undefined);
    this.drivers.get(executionId)?.stop({ kind: "elsewhere" }, new Error("The execution was taken over"));
    const loaded = await loadExecution(this, executionId, kind, claim.token, resumed);
    // Parked or gone: waiting callers read its state from the store.
    if (loaded === undefined) return this.waiters.settle(executionId, { kind: "elsewhere" });
    const driver = this.#driverOf(kind, loaded.row, { ...loaded.execution, dueAt });
    this.drivers.set(executionId, driver);
    this.#runClaimed(driver, claim);
  }

  #driverOf(kind: EngineKind, row: RunRow, execution: LoadedExecution): Driver {
    const { executionId } = row;
    const { park } = kind;
    const driver = new Driver({
      execution,
      facts: factsOf(this, row, execution),
      store: kind.store,
      storage: this.storage,
      progress: this.progress,
      publish: (events) => {
        kind.publish(row, events, driver.stepIndex);
        this.progress.notify();
      },
      scheduleWakeup: (at, kind) => this.scheduleWakeup(at, kind),
      settle: (settlement) => this.waiters.settle(executionId, settlement),
      park: park && ((token, reason) => park(row, token, reason)),
      leave: (left) => this.#leave(left, kind, row),
      reload: () => this.#reload(executionId, execution.token),
    });
    driver.begin();
    return driver;
  }

  #runClaimed(driver: Driver, claim: Claim | undefined): void {
    if (this.#closing) driver.drain();
    else if (claim?.owner === this.claims.owner) driver.run();
    else {
      // The lease has ended since it was claimed, so another process may run it by now.
      driver.stop({ kind: "elsewhere" }, new Error("The lease of this process has ended"));
      this.#reload(driver.executionId, driver.token);
    }
  }

  #leave(driver: Driver, kind: EngineKind, row: RunRow): void {
    const { executionId, idle } = driver;
    const hasChildren = this.#parents.delete(executionId);
    const links = hasChildren ? withChildren(row.links) : row.links;
    if (this.drivers.get(executionId) === driver) {
      this.drivers.delete(executionId);
      this.#released(executionId, kind);
      const spans = this.observation.leave(executionId);
      if (idle !== undefined) {
        const state = kind.isAddressable
          ? idleState(idle, { ...row, links, kind: kind.name }, this.definitions.current(row.workflowId))
          : undefined;
        this.folds.keep(executionId, idle.fold, spans, state);
      }
    }
    // A child may have ended before its parent went idle.
    if (links !== null) this.lookForEnds();
    this.#checkIdle();
  }

  /** Gives the claim back, and looks for it at once. Where that fails it is found among the claims that nothing here holds. */
  #reload(executionId: string, token: string): void {
    const released = this.store.release({ executionId, token, offer: true });
    released.then(() => this.admission.waitsInStore()).catch(() => undefined);
  }

  #enter(executionId: string, kind: EngineKind): void {
    if (!kind.takesSlot) this.#slotless.add(executionId);
  }

  #released(executionId: string, kind: EngineKind): void {
    if (!kind.takesSlot) this.#slotless.delete(executionId);
    kind.released(executionId);
  }

  #withSlots(drivers: readonly Driver[]): readonly Driver[] {
    if (this.#slotless.size === 0) return drivers;
    return drivers.filter(({ executionId }) => !this.#slotless.has(executionId));
  }

  #checkIdle(): void {
    if (!this.#closing) this.admission.roomFreed();
    this.progress.notify();
    if (this.drivers.size === 0 && this.#starting.size === 0) this.#idle?.();
  }

  #stopDrivers(): void {
    reportBodies(this.logger, this.drivers.values());
    for (const driver of this.drivers.values()) driver.releaseNow();
  }
}

function userOf({ userId }: Driver): string | null {
  return userId;
}

/** Notifies waiting code of progress. */
export class ProgressSignal {
  #next: PromiseWithResolvers<void> | undefined;

  /** Resolves with the next progress. */
  next(): Promise<void> {
    this.#next ??= Promise.withResolvers<void>();
    return this.#next.promise;
  }

  notify(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }
}

/** Logs the bodies that still run after the grace period, 20 by name: the process stops without them. */
function reportBodies(logger: Logger, loaded: Iterable<Driver>): void {
  const running = [...loaded].filter(({ isRunning }) => isRunning);
  if (running.length === 0) return;
  const named = running.slice(0, 20);
  const executions = named.map(({ workflowId, executionId }) => ({ workflowId, executionId }));
  logger.warn(
    { executions, count: running.length },
    "closing without waiting longer for bodies that run: they run again at the next start",
  );
}
