// A deadline or timeout that has passed while no process ran waits for earlier timers, and for nothing else.
import { afterAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { inTime } from "../../../test/support/in-time.ts";
import { heldOperation, wrapStore } from "../../../test/support/wrapped-store.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import type { Clock } from "../../values/clock.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { StepContext } from "../../workflow/step-context.ts";
import { andSleep } from "../../workflow/steps/free-steps.ts";

const store = memoryStore();
await inTime(store.open(), "the store");
afterAll(() => store.close());

let flows = 0;
const flow = () => createWorkflow({ id: `held-${++flows}`, input: z.unknown(), timeout: "30m" });

function andanteOf(workflow: WorkflowDefinition, clock: Clock, operations: Partial<Store> = {}) {
  const andante = createAndante({
    workflows: { [workflow.id]: workflow },
    logger: createLogger({ level: "silent" }),
    store: wrapStore(store, operations),
    clock,
  });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante;
}

/** Starts it, and continues it with another process an hour later. */
async function anHourLater(workflow: WorkflowDefinition, operations: Partial<Store> = {}) {
  const clock = new TestClock({ skipSleeps: false });
  const first = andanteOf(workflow, clock);
  const { executionId } = await first.start(workflow.id, 1);
  await inTime(first.settled(), "the sleep");
  await first.close();
  clock.advance("1h");
  const asked = { due: 0, alarms: [] as number[] };
  const due: Store["due"] = (query) => {
    asked.due++;
    return store.due(query);
  };
  const at: Clock["at"] = (time, ...rest) => {
    asked.alarms.push(time);
    return clock.at(time, ...rest);
  };
  const next = andanteOf(workflow, { now: () => clock.now(), at }, { due, ...operations });
  /** The store has replied, and the engine has processed the replies. */
  const replied = async () => {
    for (let count = 0; count < 5; count++) await inTime(store.state(executionId), "a reply");
  };
  return { next, executionId, asked, replied, clock };
}

/** A body that reports its start, and emits and ends on request. */
function toldBody() {
  const begun = Promise.withResolvers<void>();
  const emits = Promise.withResolvers<void>();
  const ends = Promise.withResolvers<void>();
  const step = {
    id: "after",
    execute: async ({ emit }: StepContext) => {
      begun.resolve();
      await emits.promise;
      emit("half", 1);
      await ends.promise;
      return "after";
    },
  };
  return { step, begun: begun.promise, emits: emits.resolve, ends: ends.resolve };
}

test("it does not come while the effects of an earlier timer are being written", async () => {
  const workflow = flow()
    .andSleep({ id: "nap", duration: "10m" })
    .andThen({ id: "after", execute: () => "after" });
  const commit = heldOperation(store.commit);
  commit.hold();
  const { next, executionId, replied } = await anHourLater(workflow, { commit: commit.run });
  await inTime(commit.asked, "the commit");
  await replied();
  expect(await next.state(workflow.id, executionId)).toMatchObject({ status: "running" });
  commit.release();
  await inTime(next.settled(), "the end");
  expect(await next.state(workflow.id, executionId)).toMatchObject({ status: "completed", result: "after" });
});

test("while it waits no poll is made for it, also at other events, until its time has come", async () => {
  const body = toldBody();
  const workflow = flow().andSleep({ id: "nap", duration: "10m" }).andThen(body.step);
  const { next, executionId, asked, replied, clock } = await anHourLater(workflow);
  await inTime(body.begun, "the body");
  await replied();
  const before = asked.due;
  body.emits();
  const types = async () => (await next.events(workflow.id, executionId)).map(({ type }) => type);
  await expect.poll(types).toContain("half");
  await replied();
  expect(asked.due).toBe(before);
  // Between the sleep and the timeout were twenty minutes.
  clock.advance("20m");
  await expect.poll(() => next.state(workflow.id, executionId)).toMatchObject({ status: "error" });
});

test("behind a sleep that has to wait as well it has no time of its own", async () => {
  const body = toldBody();
  const workflow = flow().andAll({
    id: "all",
    steps: [
      (chain) => chain.andSleep({ id: "nap", duration: "10m" }).andThen(body.step),
      andSleep({ id: "long", duration: "15m" }),
    ],
  });
  const { next, executionId, asked, replied } = await anHourLater(workflow);
  await inTime(body.begun, "the body");
  await replied();
  expect(asked.alarms.filter((time) => !Number.isFinite(time))).toEqual([]);
  body.emits();
  body.ends();
  await inTime(next.settled(), "the end");
  expect(await next.state(workflow.id, executionId)).toMatchObject({ status: "completed" });
});
