// Reads the messages of a call: what was asked last, what was said before, and what became of the tool calls since.
import type { JSONValue, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import { countWords } from "./pieces.ts";

/** The rules read at most this many characters of one message, so that no message can make them slow. */
export const MAXIMUM_READ = 20_000;

export interface ToolOutcome {
  toolName: string;
  /** `called` means that no result is there (yet). */
  state: "called" | "answered" | "failed" | "denied";
  /** The result, the error message or the reason of the denial, as text. */
  text: string;
  /** The result as JSON, where it is JSON. */
  value: JSONValue | undefined;
}

export interface Conversation {
  system: string;
  /** The text of the last user message. */
  message: string;
  /** The texts of the user messages before it, oldest first. */
  earlier: string[];
  /** The media types of the files in the last user message. */
  files: string[];
  /** The tool calls after the last user message, in order. */
  tools: ToolOutcome[];
  /** Whether someone denied a tool call after the last user message. */
  denied: boolean;
}

export function readConversation(prompt: LanguageModelV4Prompt): Conversation {
  const lastUser = prompt.findLastIndex((message) => message.role === "user");
  const users = prompt.flatMap((message) => (message.role === "user" ? [message] : []));
  const texts = users.map((message) =>
    message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
  );
  const system = prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n");
  return {
    system: system.slice(0, MAXIMUM_READ),
    message: (texts.at(-1) ?? "").slice(0, MAXIMUM_READ).trim(),
    earlier: texts.slice(0, -1).map((text) => text.slice(0, MAXIMUM_READ)),
    files: (users.at(-1)?.content ?? []).flatMap((part) => (part.type === "file" ? [part.mediaType] : [])),
    ...readTools(prompt.slice(lastUser + 1)),
  };
}

function readTools(messages: LanguageModelV4Prompt): { tools: ToolOutcome[]; denied: boolean } {
  const outcomes = new Map<string, ToolOutcome>();
  let denied = false;
  for (const message of messages) {
    if (message.role !== "assistant" && message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type === "tool-call")
        outcomes.set(part.toolCallId, {
          toolName: part.toolName,
          state: "called",
          text: "",
          value: undefined,
        });
      else if (part.type === "tool-result")
        outcomes.set(part.toolCallId, { toolName: part.toolName, ...readOutput(part.output) });
      else if (part.type === "tool-approval-response" && !part.approved) denied = true;
    }
  }
  const tools = [...outcomes.values()];
  return { tools, denied: denied || tools.some((tool) => tool.state === "denied") };
}

function readOutput(output: LanguageModelV4ToolResultOutput): Omit<ToolOutcome, "toolName"> {
  switch (output.type) {
    case "text":
      return { state: "answered", text: output.value, value: output.value };
    case "json":
      return { state: "answered", text: stringify(output.value), value: output.value };
    case "error-text":
      return { state: "failed", text: output.value, value: undefined };
    case "error-json":
      return { state: "failed", text: stringify(output.value), value: undefined };
    case "execution-denied":
      return { state: "denied", text: output.reason ?? "", value: undefined };
    case "content":
      return { state: "answered", text: readContent(output.value), value: undefined };
  }
}

function readContent(parts: (LanguageModelV4ToolResultOutput & { type: "content" })["value"]): string {
  return parts
    .map((part) =>
      part.type === "text" ? part.text : part.type === "file" ? `(a file: ${part.mediaType})` : "",
    )
    .filter((text) => text !== "")
    .join("\n");
}

/** Words in the whole prompt, tool inputs and results included: the model's "input tokens". */
export function countPromptWords(prompt: LanguageModelV4Prompt): number {
  let words = 0;
  for (const text of promptTexts(prompt)) words += countWords(text);
  return words;
}

/**
 * A tool call id made from the messages alone, so that the same messages give the same id; the count of the calls so
 * far keeps the ids of one conversation apart.
 */
export function deriveToolCallId(prompt: LanguageModelV4Prompt): string {
  let hash = 0x811c9dc5;
  let calls = 0;
  for (const text of promptTexts(prompt))
    for (let index = 0; index < text.length; index += 1)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  for (const message of prompt)
    if (message.role === "assistant")
      calls += message.content.filter((part) => part.type === "tool-call").length;
  return `demo-call-${hash.toString(16).padStart(8, "0")}-${calls + 1}`;
}

function* promptTexts(prompt: LanguageModelV4Prompt): Generator<string> {
  for (const message of prompt) {
    if (message.role === "system") {
      yield message.content;
      continue;
    }
    for (const part of message.content) {
      if (part.type === "text" || part.type === "reasoning") yield part.text;
      else if (part.type === "tool-call") yield `${part.toolName} ${stringify(part.input)}`;
      else if (part.type === "tool-result") yield readOutput(part.output).text;
    }
  }
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // A tool input that is no JSON (a cycle, a bigint) counts for nothing.
    return "";
  }
}
