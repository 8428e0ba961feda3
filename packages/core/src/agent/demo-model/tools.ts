// Chooses the tool that a message asks for, and puts the results of the tool calls into words.
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Conversation, ToolOutcome } from "./prompt.ts";

/** A tool's result is quoted up to this many characters. */
const MAXIMUM_RESULT = 4_000;

/**
 * The tool to call next, or undefined when the answer is text. A call that the settings of the request force is always
 * made, again and again in a loop: the AI SDK throws when it is missing. Otherwise each tool is called once for a
 * message, and none after a denial.
 */
export function chooseTool(
  call: LanguageModelV4CallOptions,
  conversation: Conversation,
): LanguageModelV4FunctionTool | undefined {
  const choice = call.toolChoice ?? { type: "auto" };
  const tools = (call.tools ?? []).filter((tool) => tool.type === "function");
  if (choice.type === "none") return undefined;
  if (choice.type === "tool") return tools.find((tool) => tool.name === choice.toolName);
  if (choice.type === "auto" && conversation.denied) return undefined;
  const called = new Set(conversation.tools.map((tool) => tool.toolName));
  const open = tools.filter((tool) => !called.has(tool.name));
  const [named] = open
    .map((tool) => ({ tool, position: findMention(conversation.message, tool.name) }))
    .filter((mention) => mention.position >= 0)
    .sort((one, other) => one.position - other.position);
  return named?.tool ?? (choice.type === "required" ? (open[0] ?? tools[0]) : undefined);
}

/** Where the message names the tool: by its name, by the words of its name, or by "use the weather tool". -1 if nowhere. */
function findMention(message: string, toolName: string): number {
  const lower = message.toLowerCase();
  const exact = findWord(lower, toolName.toLowerCase());
  const position = exact >= 0 ? exact : findByWords(lower, wordsOfName(toolName));
  return position >= 0 && isForbidden(lower.slice(0, position)) ? -1 : position;
}

function findByWords(message: string, words: string[]): number {
  const phrase = findWord(message, words.join(" "));
  if (phrase >= 0) return phrase;
  for (const request of message.matchAll(
    /\b(?:call|use|run|invoke)(?: the| a| an)? ([\w-]{1,64})(?: tool)?\b/g,
  )) {
    const word = request[1];
    if (word !== undefined && words.includes(word)) return request.index + request[0].indexOf(word);
  }
  return -1;
}

function wordsOfName(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function findWord(message: string, word: string): number {
  if (word === "") return -1;
  for (let index = message.indexOf(word); index >= 0; index = message.indexOf(word, index + word.length)) {
    const before = message[index - 1] ?? " ";
    const after = message[index + word.length] ?? " ";
    if (!/[\w]/.test(before) && !/[\w]/.test(after)) return index;
  }
  return -1;
}

function isForbidden(before: string): boolean {
  return /(?:\bdo not|\bdon't|\bnever|\bwithout|\bnot)(?: (?:call|use|run|invoke)(?:ing)?| using)?(?: the| any| a)?\s*["'`]?$/.test(
    before.slice(-40),
  );
}

/** The results of the tool calls as text. */
export function describeTools(tools: readonly ToolOutcome[]): string {
  return tools.map(describeTool).join("\n");
}

function describeTool(tool: ToolOutcome): string {
  const text = tool.text.length > MAXIMUM_RESULT ? `${tool.text.slice(0, MAXIMUM_RESULT)}…` : tool.text;
  switch (tool.state) {
    case "answered":
      return `The ${tool.toolName} tool answered: ${text}`;
    case "failed":
      return `The ${tool.toolName} tool failed: ${text}`;
    case "denied":
      return `I did not run the ${tool.toolName} tool, because the call was denied${text === "" ? "" : `: ${text}`}.`;
    case "called":
      return `I called the ${tool.toolName} tool and have no result of it.`;
  }
}
