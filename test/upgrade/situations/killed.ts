// A process killed in a body, between two steps and in a replay. What it wrote last is in its write-ahead log alone.
import { firstOpening, type Situation } from "../situation.ts";

export const killed: Situation = {
  clock: null,
  keepsLog: true,
  lives: [
    firstOpening,
    {
      end: "kill",
      async act(stage) {
        const { andante } = stage;
        await andante.execute("steps", { amount: 5 }, { executionId: "replay-source" });
        const replaying = stage.hold("replay", "two");
        await andante.startReplay("steps", "replay-source", { stepId: "two", executionId: "replay" });
        await replaying.reached;
        const two = stage.hold("body", "two");
        await andante.start("steps", { amount: 1 }, { executionId: "body" });
        await two.reached;
        const death = stage.dieBefore("between", "two");
        await andante.start("steps", { amount: 3 }, { executionId: "between" });
        await death;
      },
    },
  ],
  finish: [
    { do: "end", executionId: "replay", expected: { status: "completed", result: { amount: 12, one: 5 } } },
    { do: "end", executionId: "body", expected: { status: "completed", result: { amount: 4, one: 1 } } },
    { do: "end", executionId: "between", expected: { status: "completed", result: { amount: 8, one: 3 } } },
  ],
  runs: { replay: ["three", "two"], body: ["three", "two"], between: ["three", "two"] },
};
