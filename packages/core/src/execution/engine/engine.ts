// The engine of one process: which executions it drives, and how they get here.
import { FilePool } from "../../agent/call/file-budget.ts";
import { ShuttingDownError, WorkflowNotFoundError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type { Claim, Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { SizeLimits } from "../body/limits.ts";
import { Driver } from "../run/driver.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import { Changes } from "../stream/changes.ts";
import { Feed } from "../stream/feed.ts";
import { KeepAlive } from "../stream/keep-alive.ts";
import { Admission } from "./admission.ts";
import { callHooks, type HookSubject } from "./call-hooks.ts";
import { Claims } from "./claims.ts";
import { Cluster } from "./cluster.ts";
import { Definitions } from "./definitions.ts";
import type { EngineOptions } from "./engine-options.ts";
import { factsOf } from "./execution-facts.ts";
import { Folds } from "./folds.ts";
import { loadExecution } from "./load-execution.ts";
import { ProgressSignal } from "./progress-signal.ts";
import { reportBodies } from "./report-bodies.ts";
import { reportFailure } from "./report-failure.ts";
import { idleExecution, type RunRow } from "./resumed-execution.ts";
import type { WaitingExecution } from "./run-queue.ts";
import { StorageWatch } from "./storage-watch.ts";
import { Turns } from "./turns.ts";
import { Waiters } from "./waiters.ts";

export class Engine {
  readonly store: Store;
  readonly changes = new Changes();
  readonly feed = new Feed();
  readonly keepAlive = new KeepAlive();
  readonly waiters = new Waiters();
  readonly logger: Logger;
  readonly observation: Observation;
  readonly clock: Clock;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly definitions: Definitions;
  readonly folds: Folds;
  readonly limits: SizeLimits;
  readonly files: FilePool;
  readonly storage: StorageWatch;
  readonly admission: Admission;
  readonly turns: Turns;
  /** The other processes that share the store; undefined where there are none. */
  readonly cluster: Cluster | undefined;
  /** What runs here, by executionId. */
  readonly drivers = new TurnoverMap<string, Driver>();
  /** Tells when an execution has got on or has left: then it may be time to ask again whether any is busy. */
  readonly progress = new ProgressSignal();
  readonly claims = new Claims();
  readonly #options: EngineOptions;
  /** Drivers of executions that are being created; an execution of the same id may exist already. */
  readonly #starting = new TurnoverMap<Driver, Claim>();
  readonly #loading = new TurnoverMap<string, { readonly token: string; readonly done: Promise<void> }>();
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.store = options.store;
    this.workflows = options.workflows;
    this.definitions = new Definitions(options.store, options.workflows);
    this.turns = new Turns(options.store, options.turns, this.waiters);
    this.observation = options.observation;
    this.logger = options.observation.logger;
    this.folds = new Folds(this, options.folds);
    this.clock = options.clock;
    this.storage = new StorageWatch(options.store, this.logger, this.observation.metrics, this.clock);
    this.feed.followAll((executionId, events) => this.observation.receive(executionId, events));
    this.cluster = options.store.neighbours && new Cluster(this, options.store.neighbours);
    this.limits = options.limits;
    this.files = options.files ?? new FilePool();
    this.admission = new Admission({
      ...options,
      limit: options.maxRunning,
      logger: this.logger,
      // Turns have a limit of their own.
      taken: () => this.drivers.size + this.#starting.size + this.#loading.size - this.turns.size,
      users: () =>
        this.turns.others([...this.drivers.values(), ...this.#starting.keys()]).map((each) => each.userId),
      run: (waiting) => this.load(waiting),
      release: ({ executionId, claim }) =>
        this.store.release({ executionId, token: claim.token, offer: this.#closing }),
    });
  }

  /** The registered workflow of this id, or the contract's 404. */
  workflow(workflowId: string): WorkflowDefinition {
    const workflow = this.workflows.get(workflowId);
    if (workflow === undefined) throw new WorkflowNotFoundError({ workflowId });
    return workflow;
  }

  /** Something in the store falls due at this time. */
  scheduleWakeup(at: number, kind: "sleep" | "limit"): void {
    this.#options.scheduleWakeup(at, kind);
  }

  /** Publishes events that this process has committed, to followers and hooks; a failure to the log, with its step. */
  publish(row: HookSubject, events: readonly JournalEvent[], stepIndex?: number): void {
    this.feed.publish(row.executionId, events);
    if (this.changes.followed) this.changes.tell(row, events);
    reportFailure(this, row, events, stepIndex);
    const hooks = this.workflows.get(row.workflowId)?.hooks;
    if (hooks !== undefined) callHooks(hooks, row, events, this.logger);
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

  /** How many executions of workflows run here. */
  get running(): number {
    return this.turns.others(this.drivers.values()).length;
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
  prepare(row: RunRow, execution: LoadedExecution): { readonly driver: Driver; readonly claim: Claim } {
    const claim = { owner: this.claims.taker, token: execution.token };
    this.turns.enter(row.executionId, execution.workflow);
    const driver = this.#driverOf(row, execution);
    this.#starting.set(driver, claim);
    return { driver, claim };
  }

  /** The execution is created: its driver runs it. */
  admit(driver: Driver): void {
    const claim = this.#starting.get(driver);
    this.#starting.delete(driver);
    this.drivers.set(driver.executionId, driver);
    this.#runClaimed(driver, claim);
  }

  /** The execution was not created: forgets its driver. */
  discard(driver: Driver): void {
    this.#starting.delete(driver);
    this.turns.leave(driver.executionId);
    this.#checkIdle();
  }

  /** Loads and runs an execution that was claimed here. A driver that still holds it was overtaken: its claim is void. */
  async load(claimed: Omit<WaitingExecution, "user">): Promise<void> {
    const { executionId } = claimed;
    const { token } = claimed.claim;
    this.turns.enter(executionId, claimed.workflow);
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
      if (!this.has(executionId)) this.turns.leave(executionId);
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
    return this.#starting.values().some((claim) => claim.token === token);
  }

  /** True when it runs here or is being loaded. */
  has(executionId: string): boolean {
    return this.drivers.has(executionId) || this.#loading.has(executionId);
  }

  /** The driver that runs the execution here, once it has been loaded. */
  async driver(executionId: string): Promise<Driver | undefined> {
    await this.#loading.get(executionId)?.done.catch(() => undefined);
    return this.drivers.get(executionId);
  }

  /** From now on nothing new starts here. */
  stopIntake(): void {
    this.#closing = true;
  }

  /** Stops intake, lets bodies finish for `grace` milliseconds, then lets go of everything, whether the store replies or not. */
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
    { executionId, workflow, claim, dueAt, resumed }: Omit<WaitingExecution, "user">,
    before: Promise<void> | undefined,
  ): Promise<void> {
    const known = this.folds.resumed.take(executionId, resumed);
    await before?.catch(() => undefined);
    this.drivers.get(executionId)?.stop({ kind: "elsewhere" }, new Error("The execution was taken over"));
    const loaded = await loadExecution(this, executionId, workflow, claim.token, known);
    // Parked or gone: waiting callers read its state from the store.
    if (loaded === undefined) return this.waiters.settle(executionId, { kind: "elsewhere" });
    const driver = this.#driverOf(loaded.row, { ...loaded.execution, dueAt });
    this.drivers.set(executionId, driver);
    this.#runClaimed(driver, claim);
  }

  #driverOf(row: RunRow, execution: LoadedExecution): Driver {
    const { executionId } = row;
    const isTurn = this.turns.has(executionId);
    const driver = new Driver({
      execution,
      facts: factsOf(this, row, execution.journal),
      store: isTurn ? this.turns : this.store,
      storage: this.storage,
      progress: this.progress,
      publish: (events) => (isTurn ? this.progress.notify() : this.publish(row, events, driver.stepIndex)),
      scheduleWakeup: (at, kind) => this.scheduleWakeup(at, kind),
      settle: (settlement) => this.waiters.settle(executionId, settlement),
      park: isTurn ? undefined : (token, reason) => this.definitions.park(row, token, reason),
      leave: (left) => this.#leave(left, isTurn ? undefined : row),
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

  /** `row` is undefined for a turn, which nobody resumes. */
  #leave(driver: Driver, row: RunRow | undefined): void {
    const { executionId, idle } = driver;
    if (this.drivers.get(executionId) === driver) {
      this.drivers.delete(executionId);
      this.turns.leave(executionId);
      const spans = this.observation.leave(executionId);
      const state = idle && row && idleExecution(row, this.definitions, idle);
      if (idle !== undefined) this.folds.keep(executionId, { ...idle.fold, spans }, state);
    }
    this.#checkIdle();
  }

  /** Gives the claim back, and looks for it at once. Where that fails it is found among the claims that nothing here holds. */
  #reload(executionId: string, token: string): void {
    const released = this.store.release({ executionId, token, offer: true });
    released.then(() => this.admission.waitsInStore()).catch(() => undefined);
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
