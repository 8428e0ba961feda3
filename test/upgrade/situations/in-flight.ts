// A process killed with much in flight: branches, rounds and items of which some are done, a race, a call of a model.
import type { Situation } from "../situation.ts";
import type { Stage } from "../stage.ts";

const tourEnd = { said: "You said: 15376 4 9", stops: 1, grown: { amount: 24 } };

const squares = ["each[0]/square", "each[1]/square", "each[2]/square"];
const afterRace = ["past#date", "child/early", "each#items", ...squares, "agent#prompt", "end"];

export const inFlight: Situation = {
  clock: null,
  lives: [
    {
      end: "kill",
      async act(stage) {
        await inBranches(stage);
        await inModelCall(stage);
        await inTours(stage);
      },
    },
  ],
  finish: [
    { do: "end", executionId: "branches", expected: { status: "completed", result: 36 } },
    {
      do: "end",
      executionId: "agent",
      expected: { status: "completed", result: { said: "You said: On clouds" } },
    },
    { do: "end", executionId: "loop", expected: { status: "completed", result: tourEnd } },
    { do: "end", executionId: "race", expected: { status: "completed", result: tourEnd } },
    { do: "end", executionId: "each", expected: { status: "completed", result: tourEnd } },
  ],
  runs: {
    loop: ["while[1]/grow", "while[1]#condition", "race/quick", "race/endless", ...afterRace].sort(),
    race: ["race/quick", "race/endless", ...afterRace].sort(),
    branches: ["out/more", "out/right", "sum"],
    agent: ["after"],
    each: ["agent#prompt", "each[1]/square", "end"],
  },
  asks: ["15376 4 9", "15376 4 9", "15376 4 9", "On clouds"],
};

async function inBranches(stage: Stage): Promise<void> {
  const more = stage.hold("branches", "out/more");
  const right = stage.hold("branches", "out/right");
  await stage.andante.start("fan", { amount: 1 }, { executionId: "branches" });
  await Promise.all([more.reached, right.reached]);
  await stage.until("fan", "branches", { type: "step-complete", from: "left" });
}

async function inModelCall(stage: Stage): Promise<void> {
  const model = stage.holdModel("On clouds");
  await stage.andante.start("ask", { topic: "clouds" }, { executionId: "agent" });
  await model.reached;
}

async function inTours(stage: Stage): Promise<void> {
  const places = { loop: "while[1]/grow", race: "race/quick", each: "each[1]/square" };
  for (const [executionId, path] of Object.entries(places)) {
    const hold = stage.hold(executionId, path);
    await stage.andante.start("tour", { amount: 1 }, { executionId });
    await hold.reached;
  }
  await stage.until("tour", "race", { type: "step-start", from: "endless" });
  await stage.until("tour", "each", { type: "step-complete", stepPath: "each[2]/square" });
}
