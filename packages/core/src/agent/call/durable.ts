// The functions with which the code of a tool waits and records parts of its work, among the options of its call.
import type { ToolExecutionOptions } from "ai";
import { ToolWaitError } from "../../errors/index.ts";
import { propertyOf } from "../../values/fields.ts";
import { fromJson, type Json, toJson } from "../../values/json.ts";
import type { CheckpointContext } from "../../workflow/step-context.ts";
import type { ToolSteps } from "../durable/tool-steps.ts";

/** The functions for the code of a tool. */
export type DurableTool = Pick<ToolSteps, "suspend" | "sleep" | "checkpoint">;

/** The same with the functions for tools of our own. */
type HeldSteps = DurableTool & Pick<ToolSteps, "child" | "background" | "canWait">;

/** The name of the option that holds them. */
const option = "andante";

/**
 * `suspend`, `sleep` and `checkpoint` for the code of a tool, from the options of its call: also for a tool with a
 * `contextSchema` of its own. A wait holds no memory, and the tool runs again from its top when it has ended, over the
 * values that its `checkpoint`s and earlier waits returned.
 *
 * Only in a kept conversation and in a step of a workflow: elsewhere `suspend` and `sleep` throw, and `checkpoint` only does
 * its work.
 *
 * @param options The second argument of the tool's `execute`.
 *
 * @example
 * ```ts
 * import { durable } from "@andante/core";
 * import { tool } from "ai";
 * import { z } from "zod";
 *
 * export const order = tool({
 *   inputSchema: z.object({ item: z.string() }),
 *   execute: async ({ item }, options) => {
 *     const { checkpoint, suspend } = durable(options);
 *     const offer = await checkpoint("offer", () => ({ item, price: 90 }));
 *     const { paid } = await suspend("Waiting for the payment", offer, { resumeSchema: z.object({ paid: z.boolean() }) });
 *     return paid ? "ordered" : "not ordered";
 *   },
 * });
 * ```
 */
export function durable(options: Pick<ToolExecutionOptions<unknown>, "toolCallId">): DurableTool {
  return stepsOf(options);
}

/** The functions for a tool of our own. */
export function stepsOf(options: object): HeldSteps {
  const held = propertyOf(options, option);
  if (isHeld(held)) return held;
  throw new ToolWaitError({ toolName: "", action: "wait" });
}

/** The functions for a call that can wait; undefined for one that is not recorded. */
export function waitingSteps(options: object): DurableTool | undefined {
  const held = propertyOf(options, option);
  return isHeld(held) && held.canWait ? held : undefined;
}

function isHeld(held: unknown): held is HeldSteps {
  return (
    typeof propertyOf(held, "suspend") === "function" && typeof propertyOf(held, "checkpoint") === "function"
  );
}

/** The option for a call of a tool. */
export function functionsOf({ suspend, sleep, checkpoint, child, background, canWait }: HeldSteps): {
  readonly andante: HeldSteps;
} {
  return { [option]: { suspend, sleep, checkpoint, child, background, canWait } };
}

/** For a call that is not recorded: it cannot wait, and does the work of a checkpoint as any other. */
export function unrecordedSteps(toolName: string, toolCallId: string, signal: AbortSignal): HeldSteps {
  const refuse = (action: string) => () => Promise.reject(new ToolWaitError({ toolName, action }));
  return {
    suspend: refuse("suspend"),
    sleep: refuse("sleep"),
    child: refuse("run a workflow"),
    background: refuse("run a workflow"),
    canWait: false,
    checkpoint: async <Output>(id: string, work: (context: CheckpointContext) => Output) => {
      const value = await work({ attempt: 1, idempotencyKey: `${toolCallId}:${id}`, signal });
      // Through JSON, as it is where it is recorded.
      return fromJson(toJson(value, `Output of checkpoint ${id}`)) as Json<Awaited<Output>>;
    },
  };
}
