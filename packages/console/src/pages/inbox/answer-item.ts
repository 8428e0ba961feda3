// Sends an answer: resumes the execution of a workflow, decides about the tool call of a chat, or resumes a tool that waits.
import type { InboxItem } from "@andante/client";
import { andante } from "../../api/andante.ts";
import { isObject } from "../../form/as-schema.ts";

export async function answerItem(item: InboxItem, data: unknown): Promise<void> {
  const { workflowId, executionId, agentId, conversationId, approvalId, suspension } = item;
  const { suspensionId } = suspension;
  if (agentId !== null && conversationId !== null && approvalId === null) {
    await andante.conversation(conversationId).resume({ suspensionId, resumeData: data });
    return;
  }
  if (approvalId === null || conversationId === null) {
    await andante.workflow(workflowId).execution(executionId).startResume(data, { suspensionId });
    return;
  }
  const { approved, reason, input } = isObject(data) ? data : {};
  const asked = isObject(suspension.data) ? suspension.data.input : undefined;
  const decision = {
    approvalId,
    approved: approved === true,
    ...(typeof reason === "string" && reason !== "" && { reason }),
    // The form begins with the model's input: only an edited one is sent.
    ...(approved === true && !isSame(input, asked) && { input }),
  };
  await andante.conversation(conversationId).decide(decision);
}

function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSame(one[name], other[name]));
}
