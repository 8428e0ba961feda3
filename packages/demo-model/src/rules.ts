// The text rules: the plain instructions that the demo model follows, the introduction, and a paragraph for the rest.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Conversation } from "./conversation.ts";
import { paragraphAbout, topicOf } from "./prose.ts";

const maxCount = 1_000;
const maxEchoLength = 2_000;
const note = "(I am an offline demo model: I reply by simple rules.)";

type Tools = readonly LanguageModelV4FunctionTool[];
/** Returns undefined when the message does not ask for it. */
type Rule = (conversation: Conversation, tools: Tools) => string | undefined;

/** The reply to a plain instruction or a greeting; undefined when the message is neither. */
export function followInstruction(conversation: Conversation, tools: Tools): string | undefined {
  for (const rule of rules) {
    const text = rule(conversation, tools);
    if (text !== undefined) return text;
  }
  return undefined;
}

const rules: readonly Rule[] = [
  ({ message }) => sayQuoted(message),
  ({ message }) => sayRest(message),
  ({ message }) => count(message),
  recall,
  ({ system }) => sayQuoted(system),
  introduce,
];

/** `say exactly "x"`, `reply with "x"`, anywhere in the text. */
function sayQuoted(text: string): string | undefined {
  const said =
    /\b(?:say|reply with|respond with|answer with)(?: (?:exactly|only|just|the|word|words)){0,4}:? {0,9}(?:"([^"]+)"|“([^”]+)”|'([^'\n]+)'(?!\w))/i;
  const match = said.exec(text);
  return match?.[1] ?? match?.[2] ?? match?.[3];
}

/** `say x`, `reply with exactly: x` as the whole message. */
function sayRest(message: string): string | undefined {
  return /^(?:please )?(?:say|reply with|respond with|answer with)(?: exactly| only| just)?:? (\S.*)$/is.exec(
    message,
  )?.[1];
}

/** `count to 5`. */
function count(message: string): string | undefined {
  const last = /\bcount to (\d{1,15})\b/i.exec(message)?.[1];
  if (last === undefined) return undefined;
  return Array.from({ length: Math.min(Number(last), maxCount) }, (_, index) => index + 1).join(" ");
}

/** `what is my name?`: the value of an earlier "my name is …". Shows that the conversation is remembered. */
function recall({ message, earlier }: Conversation): string | undefined {
  const thing = /\bwhat(?:'s|’s| is| was) my ([a-z]{1,30}(?: [a-z]{1,30})?)\s*\?/i.exec(message)?.[1];
  if (thing === undefined) return undefined;
  const told = new RegExp(String.raw`\bmy ${thing} is ([^.!?,;\n]{1,200})`, "i");
  const value = earlier.map((text) => told.exec(text)?.[1]?.trim()).find((found) => found !== undefined);
  return value === undefined
    ? `You have not told me what your ${thing} is.`
    : `You told me that your ${thing} is ${value}.`;
}

/**
 * Replies to greetings and questions about the agent: its role by its instructions, its tools by their descriptions.
 */
function introduce({ message, system, files }: Conversation, tools: Tools): string | undefined {
  const isAsked = /\b(?:what (?:can|do) you do|who are you|what are you|introduce yourself)\b/i.test(message);
  const isGreeting = /^(?:(?:hi|hello|hey|good (?:morning|day|evening)|there|help)[\s,.!?]*)*$/i.test(
    message,
  );
  if ((!isAsked && !isGreeting) || files.length > 0) return undefined;
  const [, role, told = system] = /^you are ([^.!?\n]{1,200})[.!?]?(.*)$/is.exec(system) ?? [];
  const self = role === undefined ? "I am an AI agent." : `I am ${role}.`;
  const instructions = told.trim() === "" ? [] : [`My instructions: “${told.trim().slice(0, 300)}”`];
  return ["Hello!", self, ...instructions, describeTools(tools), note].join(" ");
}

function describeTools(tools: Tools): string {
  if (tools.length === 0) return "I have no tools, but I can write: ask me to write about rivers.";
  const described = tools.map(({ name, description = "" }) => {
    const words = description.slice(0, 200).replace(/\.$/, "");
    return words === "" ? name : `${name} (${words.charAt(0).toLowerCase()}${words.slice(1)})`;
  });
  return `I can use ${new Intl.ListFormat("en").format(described)}: just ask.`;
}

/** A paragraph on the topic of a question; other messages are repeated. */
export function writeText({ message, files }: Conversation): string {
  if (files.length > 0) return `You attached ${files.join(", ")}, and I cannot read files. ${note}`;
  const isRequest = /\?$|\b(?:about|write|tell|explain|describe|draft|compose|what|why|how)\b/i.test(message);
  if (isRequest) return `${paragraphAbout(topicOf(message))} ${note}`;
  return `You said: “${message.slice(0, maxEchoLength)}”. ${note}`;
}
