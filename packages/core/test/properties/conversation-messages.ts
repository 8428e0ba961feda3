// The messages of random conversations: those that clients send, and the prompts that the model sees.
import { isToolUIPart, type UIMessage } from "ai";
import { messageOf } from "../../src/agent/conversation/kept-message.ts";
import type { StoredMessage } from "../../src/store/conversation-store.ts";
import { chatOutput, type ModelMessage } from "./conversation-model.ts";

/** A message of the user. */
export function userMessage({ id, text }: { readonly id: string; readonly text: string }): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

/** The message with a decision on everything that it waits for. */
export function decisionOn(message: UIMessage): UIMessage {
  const parts = message.parts.map((part): UIMessage["parts"][number] => {
    if (!isToolUIPart(part)) return part;
    if (part.state === "approval-requested") {
      const approval = { ...part.approval, approved: part.type !== "tool-deny", reason: "decided" };
      return { ...part, state: "approval-responded", approval };
    }
    if (part.type !== "tool-client" || part.state !== "input-available") return part;
    return { ...part, state: "output-available", output: chatOutput("client", part.input) };
  });
  return { ...message, parts };
}

/** A kept message as the reference model has it. */
export function modelMessage(stored: StoredMessage): ModelMessage {
  const { role, id, parts } = messageOf(stored);
  const text = parts.findLast((part) => part.type === "text")?.text ?? "";
  if (role === "user") return { role, id, status: "sent", text };
  if (stored.partial) return { role: "assistant", id, status: "partial", text: "" };
  if (parts.some((part) => isToolUIPart(part) && part.state === "input-streaming"))
    return { role: "assistant", id, status: "unfinished", text };
  const waits = parts.some(
    (part) => isToolUIPart(part) && (part.state === "approval-requested" || part.state === "input-available"),
  );
  return { role: "assistant", id, status: waits ? "waiting" : "done", text };
}
