// Andantes for tests: on memory and on a file, with a logger that keeps its lines.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import type { AndanteOptions } from "../../src/andante/andante-options.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import type { ExecutionEvent } from "../../src/execution/stream/views.ts";
import { memoryStore, sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { allInTime, boundedWait, inTime } from "./in-time.ts";
import { wrapStore } from "./wrapped-store.ts";

let flows = 0;
/** A workflow with an id of its own, because tests share stores; takes anything by default. */
export function flow(): ReturnType<typeof newFlow<z.ZodUnknown>>;
export function flow<I extends z.ZodType>(input: I): ReturnType<typeof newFlow<I>>;
export function flow(input: z.ZodType = z.unknown()) {
  return newFlow(input);
}

function newFlow<I extends z.ZodType>(input: I) {
  return createWorkflow({ id: `flow-${process.pid}-${++flows}`, input });
}

export interface Bench {
  /** An Andante with these workflows, closed after the test. */
  andante(...workflows: WorkflowDefinition[]): Andante;
  andanteWith(options: Partial<AndanteOptions>, ...workflows: WorkflowDefinition[]): Andante;
  readonly logger: RecordingLogger;
  readonly store: Store;
}

/** Runs the cases on a memory store: for behaviour of the engine that no store changes. */
export function onMemory(cases: (bench: Bench) => void): void {
  onStore("memory", memoryStore(), cases);
}

/**
 * Runs the cases on a memory store and on a file: for restarts, recovery and deletion, where it matters that rows go
 * through the disk. Each operation of a store has its own cases on both, in store-cases.
 */
export function onMemoryAndFile(cases: (bench: Bench) => void): void {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-execution-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  onMemory(cases);
  onStore("a file", sqliteStore({ path: path.join(folder, "test.db") }), cases);
}

export function onStore(name: string, store: Store, cases: (bench: Bench) => void): void {
  describe(`on ${name}`, () => {
    const made: Andante[] = [];
    const logger = new RecordingLogger();
    beforeAll(() => store.open());
    afterEach(async () => {
      logger.lines.length = 0;
      await Promise.all(made.splice(0).map((andante) => andante.close({ grace: 0 })));
    });
    afterAll(() => store.close());
    const andanteWith = (options: Partial<AndanteOptions>, ...workflows: WorkflowDefinition[]) => {
      const registered = Object.fromEntries(workflows.map((workflow) => [workflow.id, workflow]));
      const andante = createAndante({ store: wrapStore(store), logger, workflows: registered, ...options });
      made.push(andante);
      return sayingWhatDidNotCome(andante);
    };
    cases({ store, logger, andanteWith, andante: (...workflows) => andanteWith({}, ...workflows) });
  });
}

/**
 * The same Andante, whose promises reject with words when they stand still. A test that leaves one alone is not disturbed by
 * that.
 */
function sayingWhatDidNotCome<T extends object>(target: T): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "agents" && typeof value === "object" && value !== null)
        return sayingWhatDidNotCome(value);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        const result: unknown = Reflect.apply(value, target, given);
        if (!(result instanceof Promise)) return result;
        const bounded = inTime(result, `what ${String(name)} returns`).then(withBoundedResult);
        bounded.catch(() => undefined);
        return bounded;
      };
    },
  });
}

/** Of an execution that was started. */
function withBoundedResult(handle: unknown): unknown {
  if (typeof handle !== "object" || handle === null || !("result" in handle)) return handle;
  return typeof handle.result === "function" ? sayingWhatDidNotCome(handle) : handle;
}

/** Everything a stream gives, to its end. */
export async function collect(events: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> {
  return allInTime(events, "the end of the stream");
}

/** A body that reports its start and ends on request. */
export function heldBody<T>(output: T) {
  const started = Promise.withResolvers<AbortSignal>();
  const gate = Promise.withResolvers<void>();
  const body = {
    runs: 0,
    get started() {
      return boundedWait(started.promise, "the start of the body");
    },
    finish: () => gate.resolve(),
    execute: async ({ signal }: { signal: AbortSignal }): Promise<T> => {
      body.runs++;
      started.resolve(signal);
      await gate.promise;
      return output;
    },
  };
  return body;
}

/** Reads a stream up to the first event of this type. */
export async function until(events: AsyncIterator<ExecutionEvent>, type: string): Promise<ExecutionEvent> {
  for (;;) {
    const next = await inTime(events.next(), type);
    if (next.done === true) throw new Error(`the stream ended without ${type}`);
    if (next.value.type === type) return next.value;
  }
}

/** Follows an execution that has not been read to its end. */
export async function attach(andante: Andante, workflowId: string, executionId: string, after = 0) {
  const stream = await andante.attach(workflowId, executionId, after);
  if (stream === undefined) throw new Error("nothing is left to follow");
  return stream.events;
}
