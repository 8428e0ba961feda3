// An engine without an Andante around it: tests call its parts one by one, on a store whose operations they replace.
import { onTestFinished } from "vitest";
import { Engine } from "../../src/execution/engine/engine.ts";
import type { EngineKind } from "../../src/execution/engine/engine-kind.ts";
import { StorageWatch } from "../../src/execution/engine/storage-watch.ts";
import { Waiters } from "../../src/execution/engine/waiters.ts";
import { sizeLimits } from "../../src/execution/limits/limits.ts";
import { Observation } from "../../src/observe/observation.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { ExecutionRow, Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { wrapStore } from "./wrapped-store.ts";

interface TestEngineOptions {
  readonly workflows?: readonly WorkflowDefinition[];
  readonly kinds?: readonly EngineKind[];
  readonly maxRunning?: number;
  /** Default: false. */
  readonly tracing?: boolean;
}

/** The clock begins at 1000 and stands still. `scheduled`: the wake-ups that the engine asked for. */
export function engineForTest(operations: Partial<Store> = {}, options: TestEngineOptions = {}) {
  const { workflows = [], kinds = [], maxRunning = 10, tracing = false } = options;
  const logger = new RecordingLogger();
  const inner = memoryStore();
  const store = wrapStore(inner, operations);
  const observation = new Observation(
    { store, logger, tracing: tracing && {}, rollups: false },
    { running: () => 0, streams: () => 0 },
  );
  const clock = new TestClock({ start: 1000, skipSleeps: false });
  const storage = new StorageWatch(store, observation.logger, observation.metrics, clock);
  const scheduled: string[] = [];
  const engine = new Engine({
    ...{ store, observation, clock, storage, kinds, maxRunning, userShare: 0.5 },
    workflows: new Map(workflows.map((workflow) => [workflow.id, workflow])),
    waiters: new Waiters(),
    limits: sizeLimits({}),
    scheduler: {
      schedule: (at, kind) => scheduled.push(`${kind} at ${at}`),
      roomFreed: () => scheduled.push("room freed"),
      look: () => scheduled.push("look"),
    },
  });
  onTestFinished(() => engine.close(0));
  engine.claims.announced(engine.claims.owner);
  return { engine, logger, clock, scheduled, inner };
}

/** The row of an execution that no process runs. */
export function rowForTest(fields: Partial<ExecutionRow> = {}): ExecutionRow {
  return {
    ...{ executionId: "e1", kind: "workflow", workflowId: "nap", agentId: null, status: "running" },
    ...{ input: "1", context: "{}", userId: "ada", conversationId: null, startAt: 1, timeoutAt: null },
    ...{ endAt: null, result: null, error: null, sequence: 3, stepIndex: 0, paused: false, resumes: 0 },
    ...{ recoveries: 1, tags: [], definition: null, parked: null, replayOf: null, trace: null, links: null },
    ...fields,
  };
}
