// The parameters of a body without a driver around it: checkpoints go into its journal at once.
import { z } from "zod";
import type { AgentUsage } from "../../src/agent/call/operation.ts";
import { AbortScope } from "../../src/execution/body/abort-scope.ts";
import type { BodyRun } from "../../src/execution/body/body-run.ts";
import type { FailedCheckpoint } from "../../src/execution/body/checkpoint-log.ts";
import { RunningStepContext } from "../../src/execution/body/running-step-context.ts";
import { factsOf } from "../../src/execution/engine/execution-facts.ts";
import type { RunCommand } from "../../src/execution/interpreter/commands.ts";
import { sizeLimits } from "../../src/execution/limits/limits.ts";
import { checkpointEvent, checkpointRetryEvent } from "../../src/execution/run/step-events.ts";
import type { LiveText } from "../../src/execution/stream/feed.ts";
import { Journal } from "../../src/journal/journal.ts";
import { nothingUsed } from "../../src/store/usage.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { Step } from "../../src/workflow/step.ts";
import { engineForTest, rowForTest } from "./test-engine.ts";

export const bodyFlow = createWorkflow({
  ...{ id: "nap", input: z.unknown(), suspendSchema: z.object({ amount: z.number() }) },
}).andThen({ id: "one", execute: () => 1 });

export interface GivenBody {
  readonly command?: Partial<RunCommand>;
  /** In place of the step of `bodyFlow`, at the path `list/one`. */
  readonly step?: Step;
  /** JSON text. */
  readonly data?: string;
  readonly userId?: string | null;
  /** The limit of a reason, in bytes. */
  readonly reason?: number;
  /** The limit of an output, in bytes. */
  readonly output?: number;
  readonly startsWork?: boolean;
  /** The usage of the execution, now or when the suspension with this id was resumed. Default: none. */
  readonly used?: (suspensionId?: string) => AgentUsage;
  /** The record of an earlier run of the body. */
  readonly journal?: Journal;
}

/** The clock begins at 1000 and stands still. */
export function bodyForTest(given: GivenBody = {}) {
  const { engine, logger, clock } = engineForTest({}, { workflows: [bodyFlow] });
  const { userId = "ada", reason = 100, output = 50, startsWork = true, data = "2" } = given;
  const { journal = new Journal(), step = firstStep() } = given;
  const conversationId = userId === null ? null : "c1";
  const row = rowForTest({ userId, conversationId, context: '{"plan":"pro"}' });
  const emitted: unknown[] = [];
  const published: LiveText[] = [];
  const failures: FailedCheckpoint[] = [];
  const scope = new AbortScope();
  const place = {
    ...{ path: "list/one", data, scope: { workflow: bodyFlow, input: '{"a":1}', stepIndex: 3 } },
    step,
  };
  const command: RunCommand = {
    ...{ kind: "run", place, path: "list/one", function: "execute", extra: undefined },
    ...{ resumeData: undefined, attempt: 2, waits: 0 },
    ...given.command,
  };
  const { used } = given;
  const run: BodyRun = {
    facts: {
      ...factsOf(engine, row, { journal, lastAt: 1, timers: [], startAt: 0 }),
      limits: sizeLimits({ reason, output, resumeData: 20 }),
      publishLive: (text) => published.push(text),
      used: async () => used?.() ?? null,
      usedAtResumes: async (ids) => new Map(Array.from(ids, (id) => [id, used?.(id) ?? nothingUsed])),
    },
    ...{ command, scope },
    emit: (from, type, value) => emitted.push([from.path, type, value]),
    log: {
      startsWork,
      checkpointDone: async (from, done) => {
        journal.checkpointCompleted(checkpointEvent(from, done, clock.now()));
      },
      commitCheckpoints: () => undefined,
      checkpointFailed: (from, failed) => {
        failures.push(failed);
        journal.checkpointFailed(checkpointRetryEvent(from, failed, clock.now()));
      },
    },
  };
  const context = () => new RunningStepContext(run, 2);
  return { run, context, journal, scope, clock, logger, emitted, published, failures };
}

function firstStep(): Step {
  const [one] = bodyFlow.steps;
  if (one === undefined) throw new Error("the workflow has a step");
  return one;
}
