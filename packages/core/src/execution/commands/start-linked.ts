// Starts the child of an execution: for its user and conversation, with its context.
import { isRecord } from "../../values/fields.ts";
import type { LinkedStart } from "../engine/children-of.ts";
import { prepareStart, type StartParts } from "./start.ts";

export async function startLinked(
  engine: StartParts,
  { executionId, workflowId, input, parent, links, timeout }: LinkedStart,
): Promise<void> {
  const { userId, conversationId } = parent;
  const context: unknown = JSON.parse(parent.context);
  const options = {
    executionId,
    ...(userId !== null && { userId }),
    ...(conversationId !== null && { conversationId }),
    ...(isRecord(context) && { context }),
  };
  await (await prepareStart(engine, workflowId, input, options, { links, timeout })).create();
}
