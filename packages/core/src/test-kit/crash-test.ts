// crashTest: runs a workflow with a crash at each of its writes, and reports whether it still ends the same.
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { FoldOptions } from "../execution/engine/folds.ts";
import { encodeEvent } from "../journal/codec.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import type { ExecutionRow, Store } from "../store/store.ts";
import type { InferInput } from "../workflow/chain-types.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import { type ResumeWaitingStep, runLife } from "./crash-test-life.ts";
import { type Crash, crashingStore, crashingStoreWith } from "./crashing-store.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { TestClock } from "./test-clock.ts";

export interface CrashTestOptions<W extends WorkflowDefinition = WorkflowDefinition> {
  readonly workflow: W;
  readonly input: InferInput<W>;
  /**
   * The resume data for a step that waits. Undefined leaves it to its deadline; without one the test fails. It may be
   * called for the same suspension again after a crash. Default: always undefined.
   */
  readonly resume?: ResumeWaitingStep;
  /** Called before each run, to bring the world outside back to where it was. Default: does nothing. */
  readonly reset?: () => unknown;
  /**
   * The side effects of the run, such as the charges of a fake bank; compared like the result. Default:
   * nothing.
   */
  readonly observe?: () => unknown;
  /** The caller's context, as in `options.context`. Default: none. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Milliseconds that one run may take. Default: 10 000. */
  readonly timeout?: number;
}

/** How a run ended. The id of the execution, which is another one in each run, reads `crash-test` in it. */
export interface CrashTestEnding {
  readonly status: ExecutionRow["status"] | "stuck";
  readonly result: unknown;
  /** Name and message, and the step that failed. */
  readonly error: unknown;
  /** The counted usage of agents; null when none was called. */
  readonly usage: unknown;
  /** The return value of `observe`. */
  readonly observed: unknown;
}

/** One run with a crash. */
export interface CrashTestRun extends Crash {
  /** The events of the write, such as `step-complete charge, step-start receipt`. */
  readonly events: string;
  readonly ending: CrashTestEnding;
  /** How often each function ran, by its path. */
  readonly bodyRuns: Readonly<Record<string, number>>;
}

export interface CrashTestReport {
  /** How the undisturbed run ended. */
  readonly expected: CrashTestEnding;
  /**
   * Two for each write of the undisturbed run: it is lost, and it is done but never acknowledged. None when the undisturbed
   * run was stuck.
   */
  readonly runs: readonly CrashTestRun[];
  /** A sentence for each run that ended in another way; empty when the workflow keeps its promise. */
  readonly differences: readonly string[];
  /** The highest number of times each function ran in one run: above 1 where its effects must be idempotent. */
  readonly bodyRuns: Readonly<Record<string, number>>;
}

/** Runs share a store, because starting one takes longer than a run; so each has an id of its own, all of one length. */
const idOf = (number: number) => `crash-test-${String(number).padStart(6, "0")}`;
const anyId = /crash-test-\d{6}/g;

/**
 * Runs a workflow undisturbed, then again and again with a crash at each of its writes. A second process continues it
 * after each crash. Sleeps take no time.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createWorkflow } from "@andante/core";
 * import { crashTest } from "@andante/core/test";
 * import { z } from "zod";
 *
 * const pay = createWorkflow({ id: "pay", input: z.object({ amount: z.number() }) })
 *   .andThen({ id: "charge", execute: ({ data }) => ({ paid: data.amount }) });
 * const { differences } = await crashTest({ workflow: pay, input: { amount: 20 } });
 * assert.deepEqual(differences, []);
 * ```
 */
export function crashTest<W extends WorkflowDefinition>(
  options: CrashTestOptions<W>,
): Promise<CrashTestReport> {
  return crashTestWith(options);
}

/** The same, with folds that are kept as these options say. */
export async function crashTestWith(
  options: CrashTestOptions,
  folds?: FoldOptions,
): Promise<CrashTestReport> {
  const store = memoryStore();
  await store.open();
  try {
    const written: string[] = [];
    const tries = new Tries(options, store, folds);
    const first = await tries.run(undefined, (events) => written.push(events));
    const runs: CrashTestRun[] = [];
    // An execution that does not end without a crash would take the whole timeout in each run with one, too.
    const writes = first.ending.status === "stuck" ? [] : written;
    for (const [index, events] of writes.entries()) {
      for (const variant of ["lost", "unacknowledged"] as const) {
        const crash = { write: index + 1, variant };
        // Concurrent writes may come in another order than in the undisturbed run.
        const own: string[] = [];
        const run = await tries.run(crash, (ownEvents) => own.push(ownEvents));
        runs.push({ ...crash, events: own[index] ?? events, ...run });
      }
    }
    const expected = first.ending;
    return {
      expected,
      runs,
      differences: runs.flatMap((one) => differencesOf(one, expected)),
      bodyRuns: maxOf([first, ...runs].map(({ bodyRuns }) => bodyRuns)),
    };
  } finally {
    await store.close();
  }
}

class Tries {
  readonly #options: CrashTestOptions;
  readonly #store: Store;
  readonly #folds: FoldOptions | undefined;
  #count = 0;

  constructor(options: CrashTestOptions, store: Store, folds: FoldOptions | undefined) {
    this.#options = options;
    this.#store = store;
    this.#folds = folds;
  }

  async run(
    crash: Crash | undefined,
    wrote: (events: string) => void = () => undefined,
  ): Promise<Pick<CrashTestRun, "ending" | "bodyRuns">> {
    const { workflow, input, resume = () => undefined, context = {}, timeout = 10_000 } = this.#options;
    await this.#options.reset?.();
    const executionId = idOf(++this.#count);
    const bodyRuns: Record<string, number> = {};
    const store = this.#store;
    const common = {
      workflow,
      input,
      resume,
      timeout,
      store,
      start: { executionId, context },
      count: (path: string) => (bodyRuns[path] = (bodyRuns[path] ?? 0) + 1),
      logger: new RecordingLogger(),
      folds: this.#folds,
      clock: new TestClock(),
    };
    const ended = await runLife({ ...common, life: crashingStoreWith(store, crash, wrote) });
    if (!ended && crash !== undefined) await runLife({ ...common, life: crashingStore(store) });
    return { ending: await this.#endingOf(executionId), bodyRuns };
  }

  async #endingOf(executionId: string): Promise<CrashTestEnding> {
    const state = await this.#store.state(executionId);
    const row = state?.execution;
    const value = (text: string | null | undefined): unknown =>
      text == null ? null : JSON.parse(text.replaceAll(anyId, "crash-test"));
    const observed = await this.#options.observe?.();
    const isStuck = row === undefined || row.endAt === null;
    // The next run must not load it.
    const type = "workflow-cancelled";
    const noRequest = { reason: undefined, userId: undefined, suspensionId: undefined };
    const event = encodeEvent({ type, timestamp: Date.now(), ...noRequest });
    if (isStuck)
      await this.#store.cancel({
        executionId,
        key: randomUUID(),
        event,
        status: "cancelled",
        error: null,
        due: null,
      });
    const status = isStuck ? "stuck" : row.status;
    const usage = state?.usage ?? null;
    return { status, result: value(row?.result), error: value(row?.error), usage, observed };
  }
}

function differencesOf(run: CrashTestRun, expected: CrashTestEnding): string[] {
  const fields = (["status", "result", "error", "usage", "observed"] as const).filter(
    (field) => !isDeepStrictEqual(run.ending[field], expected[field]),
  );
  if (fields.length === 0) return [];
  const where = run.variant === "lost" ? "just before" : "just after";
  const differences = fields.map(
    (field) =>
      `${field} is ${JSON.stringify(run.ending[field])}, undisturbed ${JSON.stringify(expected[field])}`,
  );
  return [`A crash ${where} write ${run.write} (${run.events}): ${differences.join("; ")}`];
}

function maxOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const max: Record<string, number> = {};
  for (const runs of all) {
    for (const [path, times] of Object.entries(runs)) max[path] = Math.max(max[path] ?? 0, times);
  }
  return max;
}
