// The text of a step in the graph: its status first, and times as of the shown event.
import type { Step } from "@andante/client";
import { expect, test } from "vitest";
import type { ExecutionEvent } from "../../api/types.ts";
import { foldRun } from "../../run/run-history.ts";
import { stepView } from "./step-views.ts";

const step: Step = { id: "charge", name: "Charge", type: "andThen", purpose: "" };
const long = 86_400_000;

function event(type: string, at: number, fields: Partial<ExecutionEvent> = {}): ExecutionEvent {
  return { type, executionId: "e", timestamp: new Date(at).toISOString(), ...fields };
}

const journal = [
  event("workflow-start", 0),
  event("step-start", 10, { stepPath: "charge" }),
  event("state-changed", 25, { state: {} }),
  event("step-error", 39, { stepPath: "charge", error: "no" }),
];
const wordsAfter = (events: readonly ExecutionEvent[], at: number) =>
  stepView(foldRun(events), "charge", step, at).words;

test("the status is a word, not only a colour", () => {
  expect(wordsAfter(journal, long)).toBe("failed · 29 ms");
  expect(wordsAfter(journal.slice(0, 1), long)).toBe("andThen");
});

test("played back, a step that was running has run until the event that is shown", () => {
  const before = journal.slice(0, 3);
  expect(wordsAfter(before, foldRun(before).lastAt)).toBe("running · 15 ms");
});

test("attempts are counted, and a wait shows its duration", () => {
  const retried = [...journal.slice(0, 3), event("step-retry", 30, { stepPath: "charge", error: "503" })];
  expect(wordsAfter([...retried, event("step-complete", 40, { stepPath: "charge" })], long)).toBe(
    "completed · 30 ms · 2 attempts",
  );
  const suspension = {
    ...{ suspensionId: "s", reason: "?", suspendedStepIndex: 0, stepIndex: 0, stepId: "charge" },
    ...{ stepPath: "charge", suspendedAt: new Date(30).toISOString() },
  };
  const waiting = [...journal.slice(0, 3), event("step-suspended", 30, { stepPath: "charge", suspension })];
  expect(wordsAfter(waiting, 60_030)).toBe("waiting for a person · 1 min 00 s");
});

test("a wait for events names the event, and no person", () => {
  const waitFor = (...names: string[]) => {
    const suspension = {
      ...{ suspensionId: "s", reason: "Waiting", suspendedStepIndex: 0, stepIndex: 0, stepId: "charge" },
      ...{ stepPath: "charge", suspendedAt: new Date(30).toISOString() },
      events: names.map((name) => ({ name, key: "17" })),
    };
    const asked = event("step-suspended", 30, { stepPath: "charge", suspension });
    return wordsAfter([...journal.slice(0, 3), asked], 60_030);
  };
  expect(waitFor("order.paid")).toBe("waiting for order.paid · 1 min 00 s");
  expect(waitFor("order.paid", "order.withdrawn")).toBe("waiting for one of 2 events · 1 min 00 s");
});

test("rounds show their status and how many are done", () => {
  const rounds = [0, 1].flatMap((round) => [
    event("step-start", round, { stepPath: `charge[${round}]` }),
    ...(round === 0 ? [event("step-complete", 1, { stepPath: "charge[0]" })] : []),
  ]);
  expect(wordsAfter(rounds, 2)).toBe("running · 1 of 2 rounds");
});
