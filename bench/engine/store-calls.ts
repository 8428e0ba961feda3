// The calls of the store for an execution, without the engine: the floor of an engine that costs nothing.
import type { NewStoredEvent, Store } from "@andante/core/store";
import { uuid } from "../../packages/core/src/values/uuid.ts";

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

/** Makes the writes of an execution of this many steps, one after the other. */
export async function writeExecution(store: Store, executionId: string, steps: number): Promise<void> {
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
      after: 2 * step,
      events: [event("step-complete", "one", step - 1, "2")],
      following: [next],
      stepIndex: isLast ? step - 1 : step,
      progress: true,
      end: isLast ? { status: "completed", result: "2", error: null } : null,
    });
  }
}
