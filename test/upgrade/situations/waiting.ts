// Executions that wait for a time: sleeping, about to try again, with a deadline or a timeout. Some of it passes meanwhile.
import type { Situation } from "../situation.ts";

export const waiting: Situation = {
  clock: "2026-03-01T00:00:00.000Z",
  lives: [
    {
      end: "close",
      async act(stage) {
        const { andante } = stage;
        await andante.start("nap", { amount: 2 }, { executionId: "sleeping" });
        await andante.start("hibernate", { amount: 74 }, { executionId: "sleeping-long" });
        await andante.start("flaky", { amount: 3 }, { executionId: "retrying" });
        await andante.execute("deadline", { onDeadline: { resume: 7 } }, { executionId: "deadline-resume" });
        await andante.execute("deadline", { onDeadline: "fail" }, { executionId: "deadline-fail" });
        await andante.execute("deadline", { onDeadline: "cancel" }, { executionId: "deadline-cancel" });
        await andante.execute("timed", { amount: 1 }, { executionId: "timeout-pending" });
        await andante.execute("timed", { amount: 2 }, { executionId: "within-timeout" });
        await stage.until("nap", "sleeping", { type: "step-start", from: "sleep" });
        await stage.until("hibernate", "sleeping-long", { type: "step-start", from: "winter" });
        await stage.until("flaky", "retrying", { type: "step-retry" });
      },
    },
  ],
  finish: [
    { do: "end", executionId: "sleeping", expected: { status: "completed", result: { slept: 2 } } },
    {
      do: "end",
      executionId: "retrying",
      expected: { status: "completed", result: { attempt: 2, amount: 3 } },
    },
    {
      do: "end",
      executionId: "deadline-resume",
      expected: { status: "completed", result: { after: { number: 7 } } },
    },
    { do: "end", executionId: "deadline-fail", expected: { status: "error", result: null } },
    { do: "end", executionId: "deadline-cancel", expected: { status: "cancelled", result: null } },
    {
      do: "resume",
      executionId: "within-timeout",
      data: 5,
      expected: { status: "completed", result: { after: 5 } },
    },
    { do: "advance", to: "2100-01-02T00:00:00.000Z" },
    { do: "end", executionId: "sleeping-long", expected: { status: "completed", result: { slept: 74 } } },
    { do: "end", executionId: "timeout-pending", expected: { status: "error", result: null } },
  ],
  runs: {
    sleeping: ["after"],
    retrying: ["try"],
    "deadline-resume": ["after", "wait"],
    "within-timeout": ["after", "wait"],
    "sleeping-long": ["spring"],
  },
};
