// Decides what the demo model answers to one call: a tool call, JSON for a schema, or text by the rules.
import type { JSONValue, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { fillSchema, schemaAccepts } from "./fill.ts";
import { readHints } from "./hints.ts";
import { answerByRules } from "./instructions.ts";
import { type Conversation, deriveToolCallId, readConversation } from "./prompt.ts";
import { isShallowJson } from "./shape.ts";
import { chooseTool, describeTools } from "./tools.ts";

export type DemoAnswer =
  | { type: "text"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string };

export function answerCall(call: LanguageModelV4CallOptions): DemoAnswer {
  const conversation = readConversation(call.prompt);
  const tool = chooseTool(call, conversation);
  if (tool !== undefined) {
    const hints = readHints(conversation, tool.name);
    const input = fillSchema({ schema: tool.inputSchema, hints, optional: "mentioned" });
    const toolCallId = deriveToolCallId(call.prompt);
    return { type: "tool-call", toolCallId, toolName: tool.name, input: JSON.stringify(input) };
  }
  const asked = schemaInPrompt(conversation);
  if (asked !== undefined && call.responseFormat?.type !== "json") {
    const hints = readHints({ ...conversation, message: asked.message });
    return {
      type: "text",
      text: JSON.stringify(fillSchema({ schema: asked.schema, hints, optional: "all" })),
    };
  }
  const text =
    conversation.tools.length > 0 ? describeTools(conversation.tools) : answerByRules(conversation);
  if (call.responseFormat?.type !== "json") return { type: "text", text };
  return { type: "text", text: answerInJson(call.responseFormat.schema, text, conversation) };
}

/** A prompt can end with the JSON Schema that the answer must fit, for agents that cannot ask for JSON otherwise. */
function schemaInPrompt({ message }: Conversation): { schema: JSONValue; message: string } | undefined {
  const start = message.lastIndexOf("JSON Schema:\n");
  if (start === -1) return undefined;
  const schema = parseJson(message.slice(start + "JSON Schema:\n".length));
  // What stands before the sentence about the schema is what was asked.
  return schema === undefined
    ? undefined
    : { schema, message: message.slice(0, start).split("\n\n").slice(0, -1).join("\n\n") };
}

/** An answer that already is the JSON asked for (`reply with {"a":1}`) stands; otherwise the schema is filled. */
function answerInJson(schema: unknown, text: string, conversation: Conversation): string {
  const given = parseJson(text);
  if (schema === undefined) return given === undefined ? JSON.stringify({ text }) : text;
  if (given !== undefined && schemaAccepts(schema, given)) return text;
  return JSON.stringify(fillSchema({ schema, hints: readHints(conversation), optional: "all" }));
}

function parseJson(text: string): JSONValue | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isShallowJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
