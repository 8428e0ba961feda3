// Many executions that have ended: the size of a file that must not be rewritten when it is opened.
import type { Situation } from "../situation.ts";

const count = 150;

export const history: Situation = {
  clock: null,
  recorded: ["old-001", "old-150"],
  lives: [
    {
      end: "close",
      async act({ andante }) {
        for (let number = 1; number <= count; number++) {
          const executionId = `old-${String(number).padStart(3, "0")}`;
          await andante.execute("steps", { amount: number }, { executionId });
        }
      },
    },
  ],
  finish: [
    {
      do: "replay",
      executionId: "old-001",
      stepId: "three",
      expected: { status: "completed", result: { amount: 4, one: 1 } },
    },
  ],
  runs: {},
};
