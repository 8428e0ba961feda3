// A workflow as a tool: the model starts an execution of its own, and reads the result or continues without it.
import type { Tool } from "ai";
import { DefinitionError } from "../../errors/index.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { OnParentEnd } from "../durable/children.ts";
import { stepsOf } from "./durable.ts";

export interface WorkflowToolOptions {
  /**
   * `wait`: the call returns the result of the workflow; the reply is idle meanwhile. `background`: it returns `{ executionId }`
   * at once, and the end is posted into the conversation. Default: `wait`.
   */
  readonly mode?: "wait" | "background" | undefined;
  /** In the background: the agent replies to the end. Default: false. */
  readonly wake?: boolean | undefined;
  /** For the model. Default: the `purpose` of the workflow. */
  readonly description?: string | undefined;
  /** The time that the execution may take. Default: that of the workflow. */
  readonly timeout?: Duration | undefined;
  /**
   * When the reply or the step that waits for it ends first: `cancel` ends the execution, `continue` leaves it alone, as work in
   * the background always is. Default: `cancel`.
   */
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
  options: WorkflowToolOptions = {},
): Tool<unknown, unknown> {
  const { id: workflowId, name, purpose, inputSchema } = workflow;
  const { mode = "wait", wake = false, description, timeout, onParentEnd } = options;
  const where = `workflowTool of ${workflowId}`;
  const isBackground = mode === "background";
  if (isBackground ? onParentEnd !== undefined : options.wake !== undefined)
    throw new DefinitionError({
      where,
      problem: isBackground
        ? "onParentEnd is for the mode wait: work in the background continues"
        : "wake is for the mode background",
    });
  const common = {
    workflowId,
    onParentEnd: isBackground ? "continue" : (onParentEnd ?? "cancel"),
    timeout: timeout === undefined ? undefined : parseDuration(timeout, `${where}, timeout`),
  } as const;
  const what = description ?? (purpose === "" ? `Runs the workflow ${name}.` : purpose);
  return {
    description: isBackground
      ? `${what} It works in the background: this returns its execution id, and a message reports its end.`
      : what,
    inputSchema,
    execute: (input, options) => {
      const steps = stepsOf(options);
      return isBackground ? steps.background({ ...common, input, wake }) : steps.child({ ...common, input });
    },
  };
}
