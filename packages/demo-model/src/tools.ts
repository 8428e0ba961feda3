// Chooses the tool that matches a question, and formats the results of tools as text.
import type {
  JSONValue,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import type { Conversation } from "./conversation.ts";

type Tool = LanguageModelV4FunctionTool;

const maxResultLength = 4_000;
/** Words that do not describe the purpose of a tool. */
const common = new Set(
  `a about agent all an and any are as ask at be by can current do does for from get give gives have how i in is it me my of
   on one or please return returns run tell tells that the this to tool use user what when where which who why with you your`.split(
    /\s+/,
  ),
);

/**
 * The tool to call next, or undefined when the reply is text. A call that the request forces is always made, in every
 * step of a loop: the AI SDK throws when it is missing. Otherwise a tool is called once per message: each tool that is
 * named, or else the tool whose description shares most words with the question.
 */
export function chooseTool(
  tools: readonly Tool[],
  choice: LanguageModelV4ToolChoice = { type: "auto" },
  { message, outcomes }: Conversation,
  isInstructed: boolean,
): Tool | undefined {
  if (choice.type === "none") return undefined;
  if (choice.type === "tool") return tools.find((tool) => tool.name === choice.toolName);
  const isForced = choice.type === "required";
  if (!isForced && outcomes.some(({ output }) => output.type === "execution-denied")) return undefined;
  const left = tools.filter((tool) => !outcomes.some(({ toolName }) => toolName === tool.name));
  // "Without the weather" does not request the weather tool.
  const asked = wordsIn(message.replace(/\b(?:not|never|without|don't)\b[^.!?,;]*/gi, ""));
  const named = best(left, ({ name }) => {
    const position = ` ${asked.join(" ")} `.indexOf(` ${wordsIn(name).join(" ")} `);
    return position < 0 ? 0 : 1 / (1 + position);
  });
  if (named || (!isForced && (isInstructed || outcomes.length > 0))) return named;
  const stems = stemsOf(asked);
  const fitting = best(left, ({ name, description }) => {
    const own = stemsOf(wordsIn(`${name} ${description ?? ""}`));
    return [...stems].filter((stem) => own.has(stem)).length;
  });
  return fitting ?? (isForced ? (left[0] ?? tools[0]) : undefined);
}

/** The first with the highest score above 0. */
function best(tools: readonly Tool[], score: (tool: Tool) => number): Tool | undefined {
  const scores = tools.map(score);
  const highest = Math.max(0, ...scores);
  return highest > 0 ? tools[scores.indexOf(highest)] : undefined;
}

function wordsIn(text: string): string[] {
  const apart = text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").toLowerCase();
  return apart.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Treats "write" and "writes" as one word, and "post" and "posts". */
function stemsOf(words: readonly string[]): Set<string> {
  return new Set(words.filter((word) => !common.has(word)).map((word) => word.replace(/(?<=...)e?s?$/, "")));
}

export function describeOutcomes(outcomes: readonly LanguageModelV4ToolResultPart[]): string {
  return outcomes.map(describeOutcome).join(" ");
}

function describeOutcome({ toolName, output }: LanguageModelV4ToolResultPart): string {
  if (output.type === "execution-denied") {
    return `I did not use the ${toolName} tool, because it was denied: ${output.reason ?? "no reason was given"}.`;
  }
  const content =
    output.type === "content"
      ? output.value.map((part) => (part.type === "text" ? part.text : "(a file)"))
      : [];
  const words = output.type === "content" ? content.join(" ") : inWords(output.value);
  const sentence = words
    .slice(0, maxResultLength)
    .trim()
    .replace(/[^.!?]$/, "$&.");
  if (output.type.startsWith("error-")) return `The ${toolName} tool failed: ${sentence}`;
  return sentence === "" ? `The ${toolName} tool is done.` : `According to the ${toolName} tool: ${sentence}`;
}

/** `{ city: "Oslo", sky: "clear" }` is "city is Oslo, sky is clear". */
function inWords(value: JSONValue): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, field]) => `${name} is ${inWords(field ?? null)}`)
    .join(", ");
}
