// The engine of one process: which executions it drives, who waits for them, and how they get here.
import { randomUUID } from "node:crypto";
import { CapacityError, ShuttingDownError, WorkflowNotFoundError } from "../errors/index.ts";
import type { Logger } from "../observe/logger.ts";
import type { ExecutionRow, JournalEvent, ResumeAnswer, Store, Suspension, Timer } from "../store/store.ts";
import type { JsonText } from "../workflow/json.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import type { Clock } from "./clock.ts";
import { Driver } from "./driver.ts";
import { Feed } from "./feed.ts";
import { Journal, replayEvents } from "./journal.ts";
import { KeepAlive } from "./keep-alive.ts";
import type { Settlement } from "./settlement.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly logger: Logger;
  /** How many executions may run here at once. */
  readonly maxRunning: number;
  readonly clock: Clock;
}

/** An execution that a driver is made for. */
export interface Launch {
  readonly row: Pick<ExecutionRow, "executionId" | "workflowId" | "context" | "userId" | "conversationId">;
  readonly workflow: WorkflowDefinition;
  readonly token: string;
  /** The input as the schema returned it. */
  readonly input: JsonText;
  readonly journal: Journal;
  readonly suspensions: readonly Suspension[];
  readonly timers: readonly Timer[];
  readonly sequence: number;
  readonly stepIndex: number;
  readonly paused: boolean;
}

/** Someone waits for an execution. */
export interface Wait {
  readonly settled: Promise<Settlement>;
  /** Stops waiting. */
  cancel(): void;
}

const journalPage = 2000;

export class Engine {
  readonly store: Store;
  readonly feed = new Feed();
  readonly logger: Logger;
  readonly clock: Clock;
  /** Told of every time at which something in the store falls due. */
  fallsDue: (at: number, kind: "sleep" | "limit") => void = () => undefined;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /** This incarnation of the process, as claims name it. */
  readonly owner: string = randomUUID();
  readonly #maxRunning: number;
  readonly #drivers = new Map<string, Driver>();
  /** Drivers of executions that are being created; an execution of the same id may exist already. */
  readonly #starting = new Set<Driver>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #waiters = new Map<string, Set<(settlement: Settlement) => void>>();
  readonly #keepAlive = new KeepAlive();
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(options: EngineOptions) {
    this.store = options.store;
    this.workflows = options.workflows;
    this.logger = options.logger;
    this.clock = options.clock;
    this.#maxRunning = options.maxRunning;
  }

  /** The registered workflow of this id, or the contract's 404. */
  workflow(workflowId: string): WorkflowDefinition {
    const workflow = this.workflows.get(workflowId);
    if (workflow === undefined) throw new WorkflowNotFoundError({ workflowId });
    return workflow;
  }

  /** How many more executions may run here. */
  get room(): number {
    return this.#closing
      ? 0
      : this.#maxRunning - this.#drivers.size - this.#starting.size - this.#loading.size;
  }

  /** True while a body of this workflow runs here. */
  isRunning(workflowId: string): boolean {
    for (const driver of this.#drivers.values()) {
      if (driver.workflowId === workflowId && driver.isRunning) return true;
    }
    return false;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Refuses new work while the process stops or is full. */
  checkIntake(): void {
    if (this.#closing) throw new ShuttingDownError();
    if (this.room <= 0) throw new CapacityError({ limit: this.#maxRunning });
  }

  /** Makes the driver of an execution that is about to be created; `admit` or `discard` it afterwards. */
  prepare(launch: Launch): Driver {
    const driver = this.#driverOf(launch);
    this.#starting.add(driver);
    return driver;
  }

  /** The execution is created: its driver runs it. */
  admit(driver: Driver): void {
    this.#starting.delete(driver);
    this.#drivers.set(driver.executionId, driver);
    this.#run(driver);
  }

  /** The execution was not created: forgets its driver. */
  discard(driver: Driver): void {
    this.#starting.delete(driver);
    this.#checkIdle();
  }

  #driverOf(launch: Launch): Driver {
    const { row, workflow, journal } = launch;
    const { executionId } = row;
    const driver = new Driver({
      facts: {
        executionId,
        workflowId: row.workflowId,
        userId: row.userId ?? undefined,
        conversationId: row.conversationId ?? undefined,
        context: row.context,
        journal,
        clock: this.clock,
        logger: this.logger.child({ workflowId: row.workflowId, executionId }),
      },
      workflow,
      input: launch.input,
      token: launch.token,
      store: this.store,
      suspensions: launch.suspensions,
      timers: launch.timers,
      sequence: launch.sequence,
      stepIndex: launch.stepIndex,
      paused: launch.paused,
      publish: (id, events) => this.feed.publish(id, events),
      fallsDue: (at, kind) => this.fallsDue(at, kind),
      settle: (settlement) => this.settle(executionId, settlement),
      leave: (left) => this.#leave(left),
    });
    driver.begin();
    return driver;
  }

  #run(driver: Driver): void {
    if (this.#closing) driver.drain();
    else driver.go();
  }

  /**
   * Takes up an execution that this process has claimed, where its journal ends. A driver that still holds it here was
   * overtaken (a rewind takes over from any owner): its claim is void already.
   */
  async takeUp(executionId: string, workflow: WorkflowDefinition, token: string): Promise<void> {
    const before = this.#loading.get(executionId);
    const loading = this.#takeUp(executionId, workflow, token, before);
    this.#loading.set(executionId, loading);
    try {
      await loading;
    } catch (error) {
      // The claim goes back, so that the next look for abandoned executions finds it.
      await this.store.release({ executionId, token }).catch(() => undefined);
      throw error;
    } finally {
      if (this.#loading.get(executionId) === loading) this.#loading.delete(executionId);
    }
  }

  /** Goes on with an execution after something that it waited for was answered. */
  async goOn(
    executionId: string,
    workflow: WorkflowDefinition,
    answer: Exclude<ResumeAnswer, { kind: "refused" }>,
    token: string,
  ): Promise<void> {
    if (answer.kind === "claimed") return this.takeUp(executionId, workflow, token);
    const driver = await this.driver(executionId);
    driver?.deliver(answer.events);
  }

  /** The execution was ended from outside: its bodies are stopped, and those who wait learn of it. */
  async endedOutside(executionId: string, event: JournalEvent, reason: string): Promise<void> {
    this.feed.publish(executionId, [event]);
    const driver = await this.driver(executionId);
    driver?.stop({ kind: "elsewhere" }, new Error(reason));
    this.settle(executionId, { kind: "elsewhere" });
  }

  /** The driver that runs the execution here, once it has been loaded. */
  async driver(executionId: string): Promise<Driver | undefined> {
    await this.#loading.get(executionId)?.catch(() => undefined);
    return this.#drivers.get(executionId);
  }

  /** Starts waiting for the moment when the execution next rests, ends, or leaves this process. */
  wait(executionId: string): Wait {
    const waiters = this.#waiters.get(executionId) ?? new Set();
    this.#waiters.set(executionId, waiters);
    const { promise, resolve } = Promise.withResolvers<Settlement>();
    waiters.add(resolve);
    this.#keepAlive.hold();
    promise.then(() => this.#keepAlive.release());
    const cancel = () => {
      if (waiters.delete(resolve)) resolve({ kind: "elsewhere" });
      if (waiters.size === 0 && this.#waiters.get(executionId) === waiters) this.#waiters.delete(executionId);
    };
    return { settled: promise, cancel };
  }

  settle(executionId: string, settlement: Settlement): void {
    const waiters = this.#waiters.get(executionId);
    if (waiters === undefined) return;
    this.#waiters.delete(executionId);
    for (const resolve of waiters) resolve(settlement);
  }

  /** From now on nothing new is taken in, whatever else the process still has to finish before it closes. */
  stopIntake(): void {
    this.#closing = true;
  }

  /** Stops intake, lets bodies finish for `grace` milliseconds, then lets go of everything. */
  async close(grace: number): Promise<void> {
    this.stopIntake();
    await Promise.allSettled(this.#loading.values());
    const idle = new Promise<void>((resolve) => (this.#idle = resolve));
    for (const driver of [...this.#drivers.values()]) driver.drain();
    this.#checkIdle();
    const timer = setTimeout(() => this.#stopDrivers(), grace);
    await idle;
    clearTimeout(timer);
    for (const executionId of [...this.#waiters.keys()]) this.settle(executionId, { kind: "stopped" });
    this.feed.stop();
  }

  async #takeUp(
    executionId: string,
    workflow: WorkflowDefinition,
    token: string,
    before: Promise<void> | undefined,
  ): Promise<void> {
    await before?.catch(() => undefined);
    const overtaken = this.#drivers.get(executionId);
    overtaken?.stop({ kind: "elsewhere" }, new Error("The execution was taken over"));
    const state = await this.store.state(executionId);
    if (state === undefined) return;
    const { execution, suspensions, timers } = state;
    const { journal, input } = await this.#readJournal(execution);
    const { stepIndex, paused, sequence } = execution;
    const launch = { row: execution, workflow, token, input, journal, suspensions, timers, sequence };
    const driver = this.#driverOf({ ...launch, stepIndex, paused });
    this.#drivers.set(executionId, driver);
    this.#run(driver);
  }

  /**
   * What the journal holds up to the row's number and no further: what comes later is not in the row either, and is
   * brought by whoever wrote it.
   */
  async #readJournal(row: ExecutionRow): Promise<{ journal: Journal; input: JsonText }> {
    const { executionId } = row;
    const journal = new Journal();
    let input: JsonText = row.input ?? undefined;
    for (let after = 0; after < row.sequence; ) {
      const limit = Math.min(journalPage, row.sequence - after);
      const events = await this.store.events({ executionId, after, limit });
      // The first event holds the input as the schema returned it, when that differs from what was given.
      if (after === 0 && events[0]?.value) input = events[0].value;
      replayEvents(journal, events);
      after += limit;
    }
    return { journal, input };
  }

  #leave(driver: Driver): void {
    if (this.#drivers.get(driver.executionId) === driver) this.#drivers.delete(driver.executionId);
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (this.#drivers.size === 0 && this.#starting.size === 0) this.#idle?.();
  }

  #stopDrivers(): void {
    for (const driver of [...this.#drivers.values()]) driver.releaseNow();
  }
}
