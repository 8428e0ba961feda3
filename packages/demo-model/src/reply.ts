// Decides the demo model's reply to one call: a tool call, JSON for a schema, or text by the rules.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { PublicError } from "@andante/core";
import { exampleValue, type Preferences } from "@andante/core/internal/examples";
import { readConversation } from "./conversation.ts";
import { jsonIn, valuesMentioned } from "./mentioned-values.ts";
import { followInstruction, writeText } from "./rules.ts";
import { chooseTool, describeOutcomes } from "./tools.ts";

export interface Reply {
  /** The tool to call; the text is its input. Undefined: the text is the reply. */
  readonly toolName?: string;
  readonly text: string;
}

/** The object for JSON without a schema. */
const anyObject = { type: "object", properties: { text: { type: "string" } } };

export function replyTo({
  prompt,
  tools = [],
  toolChoice,
  responseFormat,
}: LanguageModelV4CallOptions): Reply {
  const conversation = readConversation(prompt);
  const functions = tools.filter((tool) => tool.type === "function");
  const instructed = followInstruction(conversation, functions);
  const tool = chooseTool(functions, toolChoice, conversation, instructed !== undefined);
  if (tool)
    return { toolName: tool.name, text: fill(tool.inputSchema, valuesMentioned(conversation, "mentioned")) };
  const [schema] =
    responseFormat?.type === "json" ? [responseFormat.schema ?? anyObject] : jsonIn(conversation.schema);
  if (schema) return { text: fill(schema, valuesMentioned(conversation, "all")) };
  const { outcomes } = conversation;
  return { text: outcomes.length > 0 ? describeOutcomes(outcomes) : (instructed ?? writeText(conversation)) };
}

function fill(schema: unknown, preferences: Preferences): string {
  const { value, problem } = exampleValue(schema, preferences);
  if (problem === undefined) return JSON.stringify(value);
  const cure = 'Give the property "examples" or a "default" in the schema, or use a real model.';
  // Public, because the caller sent the schema and needs the message.
  throw new PublicError(`The demo model cannot make up a value for ${problem.replace(/\.$/, "")}. ${cure}`);
}
