// The engine of one process: which executions it drives, who waits for them, and how they get here.
import { randomUUID } from "node:crypto";
import {
  CapacityError,
  DefinitionChangedError,
  ShuttingDownError,
  WorkflowNotFoundError,
} from "../../errors/index.ts";
import { Journal, replayEvents } from "../../journal/journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type {
  ExecutionRow,
  JournalEvent,
  ResumeAnswer,
  Store,
  Suspension,
  Timer,
} from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import type { JsonText } from "../../values/json.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { bytesOf, type SizeLimits } from "../body/limits.ts";
import { Driver } from "../run/driver.ts";
import type { Settlement } from "../run/settlement.ts";
import { Feed } from "../stream/feed.ts";
import { KeepAlive } from "../stream/keep-alive.ts";
import { type HookSubject, tellHooks } from "./call-hooks.ts";
import { Definitions } from "./definitions.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly observation: Observation;
  /** How many executions may run here at once. */
  readonly maxRunning: number;
  readonly clock: Clock;
  readonly limits: SizeLimits;
}

/** An execution that a driver is made for. */
export interface Launch {
  readonly row: HookSubject;
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
  /** The bytes that its journal holds. */
  readonly bytes: number;
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
  readonly keepAlive = new KeepAlive();
  readonly logger: Logger;
  readonly observation: Observation;
  readonly clock: Clock;
  /** Told of every time at which something in the store falls due. */
  fallsDue: (at: number, kind: "sleep" | "limit") => void = () => undefined;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly definitions: Definitions;
  readonly limits: SizeLimits;
  /** This incarnation of the process, as claims name it. */
  readonly owner: string = randomUUID();
  readonly #maxRunning: number;
  readonly #drivers = new Map<string, Driver>();
  /** Drivers of executions that are being created; an execution of the same id may exist already. */
  readonly #starting = new Set<Driver>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #waiters = new Map<string, Set<(settlement: Settlement) => void>>();
  #closing = false;
  #idle: (() => void) | undefined;
  #progress: PromiseWithResolvers<void> | undefined;

  constructor(options: EngineOptions) {
    this.store = options.store;
    this.workflows = options.workflows;
    this.definitions = new Definitions(options.store, options.workflows);
    this.observation = options.observation;
    this.logger = options.observation.logger;
    this.feed.followAll((executionId, events) => this.observation.receive(executionId, events));
    this.clock = options.clock;
    this.#maxRunning = options.maxRunning;
    this.limits = options.limits;
  }

  /** The registered workflow of this id, or the contract's 404. */
  workflow(workflowId: string): WorkflowDefinition {
    const workflow = this.workflows.get(workflowId);
    if (workflow === undefined) throw new WorkflowNotFoundError({ workflowId });
    return workflow;
  }

  /** Tells of events that this process has committed: those who follow the execution, and the workflow's hooks. */
  publish(row: HookSubject, events: readonly JournalEvent[]): void {
    this.feed.publish(row.executionId, events);
    const hooks = this.workflows.get(row.workflowId)?.hooks;
    if (hooks !== undefined) tellHooks(hooks, row, events, this.logger);
    this.#progressed();
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

  /** True while an execution is being started or loaded here, a body runs, or something is being committed. */
  get isBusy(): boolean {
    if (this.#starting.size > 0 || this.#loading.size > 0) return true;
    for (const driver of this.#drivers.values()) if (driver.isBusy) return true;
    return false;
  }

  /** Resolves when an execution has got on or has left: then it may be time to ask again whether any is busy. */
  progress(): Promise<void> {
    this.#progress ??= Promise.withResolvers<void>();
    return this.#progress.promise;
  }

  #progressed(): void {
    this.#progress?.resolve();
    this.#progress = undefined;
  }

  /** How many executions run here. */
  get running(): number {
    return this.#drivers.size;
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
        logger: this.logger.child(fieldsOf(row)),
        limits: this.limits,
        observation: this.observation,
        publishLive: (text) => this.feed.publishLive(executionId, text),
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
      bytes: launch.bytes,
      publish: (_, events) => this.publish(row, events),
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
      this.#progressed();
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
  async endedOutside(row: HookSubject, event: JournalEvent, reason: string): Promise<void> {
    const { executionId } = row;
    this.publish(row, [event]);
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
    const cancel = () => {
      waiters.delete(resolve);
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

  /** From now on nothing new starts here. */
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
    const observe = this.observation.takeUp(execution, execution.startAt);
    const { journal, input, bytes } = await this.readJournal(execution, observe);
    if (!(await this.#fits(execution, journal, token))) return this.observation.leave(executionId);
    const { stepIndex, paused, sequence } = execution;
    const launch = { row: execution, workflow, token, input, journal, suspensions, timers, sequence, bytes };
    const driver = this.#driverOf({ ...launch, stepIndex, paused });
    this.#drivers.set(executionId, driver);
    this.#run(driver);
  }

  /** Whether today's definition fits; one that does is noted as the execution's, one that does not parks it. */
  async #fits(row: ExecutionRow, journal: Journal, token: string): Promise<boolean> {
    if (this.definitions.isToday(row)) return true;
    const { executionId, workflowId } = row;
    const definition = this.definitions.today(workflowId);
    const change = await this.definitions.misfit(row, journal);
    if (change === undefined) {
      await this.store.adopt({ executionId, token, definition });
      return true;
    }
    const reason = new DefinitionChangedError({ executionId, workflowId, change }).message;
    await this.store.park({ executionId, token, reason, definition });
    this.logger.warn(
      { executionId, workflowId, reason },
      "parking an execution until a definition fits again",
    );
    this.settle(executionId, { kind: "elsewhere" });
    return false;
  }

  /**
   * What the journal holds up to the row's number and no further: what comes later is not in the row either, and is
   * brought by whoever wrote it.
   */
  async readJournal(
    row: ExecutionRow,
    observe: (events: readonly JournalEvent[]) => void = () => undefined,
  ): Promise<{ journal: Journal; input: JsonText; bytes: number }> {
    const { executionId } = row;
    const journal = new Journal();
    let input: JsonText = row.input ?? undefined;
    let bytes = 0;
    for (let after = 0; after < row.sequence; ) {
      const limit = Math.min(journalPage, row.sequence - after);
      const events = await this.store.events({ executionId, after, limit });
      // The first event holds the input as the schema returned it, when that differs from what was given.
      if (after === 0 && events[0]?.value) input = events[0].value;
      replayEvents(journal, events);
      bytes += bytesOf(events);
      observe(events);
      after += limit;
    }
    return { journal, input, bytes };
  }

  #leave(driver: Driver): void {
    if (this.#drivers.get(driver.executionId) === driver) {
      this.#drivers.delete(driver.executionId);
      this.observation.leave(driver.executionId);
    }
    this.#checkIdle();
  }

  #checkIdle(): void {
    this.#progressed();
    if (this.#drivers.size === 0 && this.#starting.size === 0) this.#idle?.();
  }

  #stopDrivers(): void {
    for (const driver of [...this.#drivers.values()]) driver.releaseNow();
  }
}

/** What every line about an execution carries. */
function fieldsOf({
  workflowId,
  executionId,
  userId,
  conversationId,
}: Launch["row"]): Record<string, string> {
  return {
    workflowId,
    executionId,
    ...(userId !== null && { userId }),
    ...(conversationId !== null && { conversationId }),
  };
}
