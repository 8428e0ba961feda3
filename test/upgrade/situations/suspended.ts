// Executions that wait for somebody: at gates of all kinds, paused, rewound, replayed. The process ended in order.
import type { Situation } from "../situation.ts";
import type { Stage } from "../stage.ts";

export const suspended: Situation = {
  clock: "2026-03-01T00:00:00.000Z",
  lives: [
    {
      end: "close",
      async act(stage) {
        await waitAtGates(stage);
        await resumeSome(stage);
        await pause(stage);
        await pauseOverGate(stage);
        await goBack(stage);
      },
    },
  ],
  finish: [
    {
      do: "resume",
      executionId: "gate",
      data: { approved: true },
      expected: { status: "completed", result: { text: "rain, plain!", approved: true } },
    },
    {
      do: "resume",
      executionId: "reviews",
      data: { approved: false },
      stepId: "finance",
      expected: { status: "suspended" },
    },
    {
      do: "resume",
      executionId: "reviews",
      data: { approved: true },
      stepId: "all/press",
      expected: {
        status: "completed",
        result: { reviews: [{ approved: true }, { approved: false }, { printed: { approved: true } }, 7] },
      },
    },
    {
      do: "resume",
      executionId: "nested",
      data: { size: 9 },
      expected: { status: "completed", result: { after: { stamped: { size: 9 } } } },
    },
    {
      do: "resume",
      executionId: "pages",
      data: "no",
      stepId: "each[1]/check",
      expected: { status: "suspended" },
    },
    {
      do: "resume",
      executionId: "pages",
      data: "yes",
      expected: { status: "completed", result: "a scanned: yes; b scanned: no; c scanned: yes" },
    },
    { do: "resume", executionId: "polish", data: 1, expected: { status: "suspended" } },
    {
      do: "resume",
      executionId: "polish",
      data: 5,
      expected: { status: "completed", result: { polished: 11 } },
    },
    { do: "resume", executionId: "paused", expected: { status: "completed", result: { amount: 4, one: 1 } } },
    { do: "resume", executionId: "paused-over-gate", expected: { status: "suspended" } },
    {
      do: "resume",
      executionId: "paused-over-gate",
      data: { approved: true },
      expected: { status: "completed", result: { text: "snow, plain!", approved: true } },
    },
    {
      do: "resume",
      executionId: "rewound",
      data: { approved: true },
      expected: { status: "completed", result: { text: "wind, louder!", approved: true } },
    },
    {
      do: "resume",
      executionId: "replayed",
      data: { approved: false },
      expected: { status: "completed", result: { text: "hail, plain!", approved: false } },
    },
  ],
  runs: {
    gate: ["approve", "publish"],
    reviews: ["all/finance", "all/press", "all/print", "merge"],
    nested: ["after", "inside/ask", "inside/stamp"],
    pages: ["bind", "each[1]/check", "each[2]/check", "each[2]/check", "each[2]/scan"],
    polish: [
      "done",
      "until[1]#condition",
      "until[1]/round",
      "until[2]#condition",
      "until[2]/round",
      "until[2]/round",
    ],
    paused: ["three"],
    "paused-over-gate": ["approve", "publish"],
    rewound: ["approve", "publish"],
    replayed: ["approve", "publish"],
  },
};

/** One of each kind. */
async function waitAtGates({ andante }: Stage): Promise<void> {
  await andante.execute("gate", { topic: "rain" }, { executionId: "gate", userId: "ada" });
  await andante.execute("reviews", { amount: 3 }, { executionId: "reviews" });
  await andante.execute("nested", { amount: 1 }, { executionId: "nested" });
  await andante.execute("pages", { names: ["a", "b", "c"] }, { executionId: "pages" });
  await andante.execute("polish", { amount: 1 }, { executionId: "polish" });
}

/** Where several wait, or one after the other, the first is resumed. */
async function resumeSome({ andante }: Stage): Promise<void> {
  await andante.resume("reviews", "reviews", { approved: true }, { stepId: "legal", userId: "bob" });
  await andante.resume("pages", "pages", "yes");
  await andante.resume("polish", "polish", 4);
}

async function pause(stage: Stage): Promise<void> {
  const { andante } = stage;
  const two = stage.hold("paused", "two");
  await andante.start("steps", { amount: 1 }, { executionId: "paused" });
  await two.reached;
  await andante.suspend("steps", "paused", { reason: "Lunch", userId: "bob" });
  two.release();
  await stage.until("steps", "paused", { type: "step-complete", from: "two" });
}

async function pauseOverGate(stage: Stage): Promise<void> {
  const { andante } = stage;
  const approve = stage.hold("paused-over-gate", "approve");
  await andante.start("gate", { topic: "snow" }, { executionId: "paused-over-gate" });
  await approve.reached;
  await andante.suspend("gate", "paused-over-gate");
  approve.release();
  await stage.until("gate", "paused-over-gate", { type: "step-suspended", from: "approve" });
}

async function goBack({ andante }: Stage): Promise<void> {
  await andante.execute("gate", { topic: "wind" }, { executionId: "rewound" });
  await andante.resume("gate", "rewound", "louder", { stepId: "draft" });
  await andante.execute("gate", { topic: "hail" }, { executionId: "replay-source", tags: ["source"] });
  await andante.resume("gate", "replay-source", { approved: true });
  await andante.replay("gate", "replay-source", {
    stepId: "approve",
    executionId: "replayed",
    userId: "eve",
  });
}
