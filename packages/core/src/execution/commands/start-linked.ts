// Starts the child of an execution: for its user and conversation, with its context.
import { parseObject } from "../../values/fields.ts";
import type { LinkedStart } from "../engine/child-executions.ts";
import { prepareStart, type StartParts } from "./start.ts";

export async function startLinked(
  engine: StartParts,
  { executionId, workflowId, input, parent, links, timeout }: LinkedStart,
): Promise<void> {
  const { userId, conversationId } = parent;
  const options = {
    executionId,
    ...(userId !== null && { userId }),
    ...(conversationId !== null && { conversationId }),
    context: parseObject(parent.context, "The context of an execution"),
  };
  await (await prepareStart(engine, workflowId, input, options, { links, timeout })).create();
}
