// A workflow as a tool: the model starts an execution of its own and reads the result.
import type { Tool } from "ai";
import { type Duration, parseDuration } from "../../values/duration.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { OnParentEnd } from "../durable/children.ts";
import { stepsOf } from "./durable.ts";

export interface WorkflowToolOptions {
  /** `wait`: the call returns the result of the workflow; the reply is idle meanwhile. Default: `wait`. */
  readonly mode?: "wait" | undefined;
  /** For the model. Default: the `purpose` of the workflow. */
  readonly description?: string | undefined;
  /** The time that the execution may take. Default: that of the workflow. */
  readonly timeout?: Duration | undefined;
  /** At the end of the reply or the step that has started it: `cancel` ends it, `continue` leaves it alone. Default: `cancel`. */
  readonly onParentEnd?: OnParentEnd | undefined;
}

/**
 * A workflow as a tool of an agent. Each call is an execution of its own, started once however often the call is continued
 * after a crash. The workflow must be registered beside the agent.
 *
 * Only in a kept conversation and in a step of a workflow: elsewhere its calls are not recorded, and it throws.
 *
 * @example
 * ```ts
 * import { Agent, createWorkflow, workflowTool } from "@andante/core";
 * import { z } from "zod";
 *
 * const publish = createWorkflow({ id: "publish", purpose: "Publishes a text", input: z.object({ text: z.string() }) })
 *   .andThen({ id: "approve", execute: ({ data, suspend, resumeData }) => resumeData ?? suspend("Publish?", data) });
 *
 * export const writer = new Agent({ id: "writer", model: "openai/gpt-5", tools: { publish: workflowTool(publish) } });
 * ```
 */
export function workflowTool(
  workflow: Pick<WorkflowDefinition, "id" | "name" | "purpose" | "inputSchema">,
  { description, timeout, onParentEnd = "cancel" }: WorkflowToolOptions = {},
): Tool<unknown, unknown> {
  const { id: workflowId, name, purpose, inputSchema } = workflow;
  const limit =
    timeout === undefined ? undefined : parseDuration(timeout, `workflowTool of ${workflowId}, timeout`);
  return {
    description: description ?? (purpose === "" ? `Runs the workflow ${name}.` : purpose),
    inputSchema,
    execute: (input, options) => stepsOf(options).child({ workflowId, input, onParentEnd, timeout: limit }),
  };
}
