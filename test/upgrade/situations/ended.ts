// Executions that have ended, each in another way, with state, events of their own, tags, user, conversation and context.
import type { Situation } from "../situation.ts";

const whose = {
  userId: "ada",
  conversationId: "talk",
  context: { plan: "gold", limits: { pages: 3 } },
  tags: ["scenic", "north"],
};

export const ended: Situation = {
  clock: null,
  observed: true,
  lives: [
    {
      end: "close",
      async act({ andante }) {
        await andante.execute("tour", { amount: 1 }, { executionId: "completed", ...whose });
        await andante.execute("ending", { how: "go" }, { executionId: "completed-plain", userId: "bob" });
        await andante.execute("ending", { how: "bail" }, { executionId: "bailed", ...whose });
        await andante.execute("ending", { how: "fail" }, { executionId: "failed", tags: ["bad"] });
        await andante.execute("ending", { how: "refuse" }, { executionId: "refused" });
        await andante.execute("ending", { how: "wait" }, { executionId: "cancelled", userId: "ada" });
        await andante.cancel("ending", "cancelled", { reason: "Not needed", userId: "bob" });
        await andante.execute("ask", { topic: "leaves" }, { executionId: "asked", userId: "ada" });
      },
    },
  ],
  finish: [
    {
      do: "replay",
      executionId: "completed",
      stepId: "end",
      expected: {
        status: "completed",
        result: { said: "You said: 15376 4 9", stops: 1, grown: { amount: 24 } },
        tags: ["tour", "scenic", "north"],
        context: { plan: "gold", limits: { pages: 3 }, conversationId: "talk" },
        replayOf: { executionId: "completed", stepId: "end" },
      },
    },
    {
      do: "replay",
      executionId: "completed-plain",
      stepId: "finish",
      expected: { status: "completed", result: { decided: "go", state: { seen: ["go"] } } },
    },
    {
      do: "replay",
      executionId: "bailed",
      stepId: "decide",
      expected: { status: "completed", result: { bailed: true } },
    },
    { do: "replay", executionId: "failed", stepId: "begin", expected: { status: "error" } },
    {
      do: "replay",
      executionId: "refused",
      stepId: "decide",
      expected: { status: "error", error: "This is not possible" },
    },
    { do: "replay", executionId: "cancelled", stepId: "decide", expected: { status: "suspended" } },
    {
      do: "replay",
      executionId: "asked",
      stepId: "after",
      expected: { status: "completed", result: { said: "You said: On leaves" } },
    },
  ],
  runs: {},
};
