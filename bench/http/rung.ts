// Andante without its engine, to tell what the parts around it cost. Arguments: port, database file, rung.
//
// What starts an execution is replaced: "server" makes the commits of the bare route, "store" makes them through the contract
// of stores. Whatever stands before and after it is as it always is.
import { createLogger, sqliteStore } from "@andante/core";
import type { NewStoredEvent } from "@andante/core/store";
import { serve } from "@andante/server";
import { uuid } from "../../packages/core/src/values/uuid.ts";
import { startBareWriter } from "../engine/bare-writer.ts";
import { one, three } from "../engine/workflows.ts";

const [port, path = "", rung = ""] = process.argv.slice(2);
const store = sqliteStore({ path });
const steps: Record<string, number> = { one: 1, three: 3 };

const writers: Record<string, () => (executionId: string, steps: number) => Promise<void>> = {
  server: () => startBareWriter(path.replace(/\.db$/, "-bare.db")).execution,
  store: () => writeExecution,
};
const write = writers[rung]?.();
if (write === undefined) throw new Error(`unknown rung "${rung}": ${Object.keys(writers).join(", ")}`);
const { andante } = await serve({
  workflows: { one, three },
  store,
  port: Number(port),
  logger: createLogger({ level: "error" }),
});
Object.assign(andante, {
  start: async (id: string, input: { n: number }) => {
    const executionId = uuid();
    const startAt = new Date().toISOString();
    await write(executionId, steps[id] ?? 1);
    const result = { n: input.n + 1 };
    const ended = { executionId, startAt, endAt: new Date().toISOString(), status: "completed", result };
    return { executionId, startAt, settled: true, result: async () => ended };
  },
});

function event(type: string, path: string | null, stepIndex: number | null, value: string | null) {
  const stepType = path === null ? null : "andThen";
  return {
    timestamp: Date.now(),
    type,
    path,
    stepIndex,
    stepType,
    value,
    detail: null,
  } satisfies NewStoredEvent;
}

/** What the engine asks of the store for an execution of this many steps. */
async function writeExecution(executionId: string, steps: number): Promise<void> {
  const claim = { owner: "rung", token: uuid() };
  const nobody = { userId: null, conversationId: null, timeoutAt: null };
  const begin = [event("workflow-start", null, null, null), event("step-start", "one", 0, '{"n":1}')];
  const first = { executionId, workflowId: "one", input: '{"n":1}', context: "{}", startAt: Date.now() };
  await store.create({ ...first, ...nobody, claim, events: begin, trace: "" });
  const none = { usage: null, open: [], closeBelow: [], timers: [], clear: [], idle: null };
  for (let step = 1; step <= steps; step++) {
    const isLast = step === steps;
    const next = isLast ? event("workflow-complete", null, null, "2") : event("step-start", "two", step, "2");
    await store.commit({
      ...none,
      executionId,
      token: claim.token,
      number: step,
      events: [event("step-complete", "one", step - 1, "2")],
      following: [next],
      stepIndex: isLast ? step - 1 : step,
      progress: true,
      end: isLast ? { status: "completed", result: "2", error: null } : null,
    });
  }
}
