// Executions whose workflow was changed under them: one killed in a body and parked since, one that waits at a gate.
import type { Situation } from "../situation.ts";

export const parked: Situation = {
  clock: null,
  lives: [
    {
      end: "kill",
      async act(stage) {
        const { andante } = stage;
        const two = stage.hold("parked", "two");
        await andante.start("changing", { amount: 1 }, { executionId: "parked" });
        await two.reached;
        await andante.execute("changing", { amount: 8 }, { executionId: "misfit" });
      },
    },
    { end: "close", changed: true, act: ({ andante }) => andante.state("changing", "parked") },
  ],
  finish: [
    { do: "end", executionId: "parked", expected: { status: "completed", result: { amount: 4 } } },
    {
      do: "resume",
      executionId: "misfit",
      data: "fine",
      expected: { status: "completed", result: { amount: 18 } },
    },
  ],
  runs: { parked: ["two"], misfit: ["two"] },
};
