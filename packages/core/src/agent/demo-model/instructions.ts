// The text rules: the plain instructions that the demo model follows, first match wins, and the echo when none does.
import type { Conversation } from "./prompt.ts";
import { firstSentence, paragraphAbout } from "./prose.ts";

/** The echo repeats at most this many characters. */
const MAXIMUM_ECHO = 2_000;
const MAXIMUM_COUNT = 1_000;
const MAXIMUM_OUTPUT = 20_000;
const INTRODUCTION = "I am Andante's offline demo model: I answer by simple rules and understand nothing.";

/** A rule answers a message, or gives undefined when the message does not ask for it. */
type Rule = (message: string, conversation: Conversation) => string | undefined;

const rules: readonly Rule[] = [
  repeat,
  sayQuoted,
  sayRest,
  changeLetters,
  count,
  summarize,
  recall,
  writeAbout,
];

export function answerByRules(conversation: Conversation): string {
  const { message, system } = conversation;
  for (const rule of rules) {
    const answer = rule(message, conversation);
    if (answer !== undefined) return applyStyle(answer.slice(0, MAXIMUM_OUTPUT), system);
  }
  return applyStyle(sayQuoted(system) ?? echo(conversation), system);
}

/** `repeat "x" 3 times`, `say x twice`, `repeat after me: x`. */
function repeat(message: string): string | undefined {
  const times =
    /(?:^|[.!?\n]\s*|\bplease )(?:repeat|say|write) (.{1,500}?),? (\d{1,9} times|twice|thrice)\b/i.exec(
      message,
    );
  if (times?.[1] !== undefined && times[2] !== undefined) {
    const text = unquote(times[1].replace(/^(?:the )?(?:word|phrase|sentence|text) /i, ""));
    const wanted = { twice: 2, thrice: 3 }[times[2].toLowerCase()] ?? Number.parseInt(times[2], 10);
    const most = Math.floor(MAXIMUM_OUTPUT / (text.length + 1));
    return Array.from({ length: Math.min(wanted, MAXIMUM_COUNT, most) }, () => text).join(" ");
  }
  const after = /^(?:please )?(?:repeat|echo)(?: after me| this| the following)?:\s*(.+)$/is.exec(message);
  return after?.[1] === undefined ? undefined : unquote(after[1]);
}

/** `say exactly "x"`, `reply with "x"`, anywhere in the text. */
function sayQuoted(text: string): string | undefined {
  const verb = "(?:say|print|output|(?:reply|respond|answer) with)";
  const detail = "(?: (?:exactly|only|just|the|single|word|words|text|phrase|following)){0,4}";
  const quoted = String.raw`(?:"([^"]{1,20000})"|“([^”]{1,20000})”|\x60([^\x60]{1,20000})\x60|'([^'\n]{1,2000})'(?!\w))`;
  const match = new RegExp(String.raw`\b${verb}${detail}:?\s{0,9}${quoted}`, "i").exec(text);
  return match === null ? undefined : (match[1] ?? match[2] ?? match[3] ?? match[4]);
}

/** `say exactly x`, `reply with x`, at the start of a sentence: the rest of the message, with no full stop unless "exactly". */
function sayRest(message: string): string | undefined {
  const match =
    /(?:^|[.!?\n]\s{0,9})(?:please )?(?:say|print|(?:reply|respond|answer) with)( exactly)?(?: only| just| exactly)?(?: the(?: single)? words?)?(?::\s*| )(\S.*)$/is.exec(
      message,
    );
  const rest = match?.[2]?.trim();
  if (rest === undefined || match?.[1] !== undefined) return rest;
  return /^[^.!?\n]+\.$/.test(rest) ? rest.slice(0, -1) : rest;
}

/** `uppercase: x`, `lowercase x`, `reverse "x"`. */
function changeLetters(message: string): string | undefined {
  const match =
    /^(?:please )?(?:convert to |to )?(upper ?case|lower ?case|reverse)(?: (?:this|the) ?(?:text|word|string|sentence)?)?\s{0,9}(?::|\s)\s*(.+)$/is.exec(
      message,
    );
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const text = unquote(match[2]);
  const change = match[1].toLowerCase();
  if (change.startsWith("upper")) return text.toUpperCase();
  return change.startsWith("lower") ? text.toLowerCase() : [...text].reverse().join("");
}

/** `count to 5`, `count from 3 to 7`; at most 1000 numbers. */
function count(message: string): string | undefined {
  const match = /\bcount (?:up )?(?:from (\d{1,9}) )?to (\d{1,15})\b/i.exec(message);
  if (match?.[2] === undefined) return undefined;
  const first = match[1] === undefined ? 1 : Number.parseInt(match[1], 10);
  const length = Math.min(Math.max(Number.parseInt(match[2], 10) - first + 1, 0), MAXIMUM_COUNT);
  return Array.from({ length }, (_, index) => String(first + index)).join(" ");
}

/** `summarize: …`, `summarize the following text: …`: the first sentence of it. */
function summarize(message: string): string | undefined {
  const match =
    /(?:^|[.!?\n]\s{0,9})(?:please )?(?:summari[sz]e|give (?:me )?a summary of)(?: (?:this|the|following|text|article|message)){0,3}\s{0,9}:?\s+(\S.*)$/is.exec(
      message,
    );
  return match?.[1] === undefined ? undefined : firstSentence(unquote(match[1]));
}

/** `what is my name?`: what the user said earlier as "my name is …". Shows that the conversation is remembered. */
function recall(message: string, conversation: Conversation): string | undefined {
  const thing = /\bwhat(?:'s|’s| is| was) my ((?:[a-z]{1,30} )?[a-z]{1,30})\s*\?/i.exec(message)?.[1];
  if (thing === undefined) return undefined;
  const told = new RegExp(String.raw`\bmy ${thing} is ([^.!?,;\n]{1,200})`, "i");
  for (const text of conversation.earlier.toReversed()) {
    const value = told.exec(text)?.[1]?.trim();
    if (value !== undefined) return `You told me that your ${thing} is ${value}.`;
  }
  return `You have not told me what your ${thing} is.`;
}

/** `write about x`, `write a short story about x`, `tell me about x`. */
function writeAbout(message: string): string | undefined {
  const match = /\b(?:write|tell|draft|compose)\b[^.!?\n]{0,200}? about ([^.!?\n]{1,200})/i.exec(message);
  const topic = match?.[1]?.trim();
  return topic === undefined || topic === "" ? undefined : paragraphAbout(unquote(topic));
}

function echo({ message, files }: Conversation): string {
  const attached = files.length === 0 ? "" : ` You attached ${files.length} file(s): ${files.join(", ")}.`;
  if (message === "") return `Hello.${attached} ${INTRODUCTION}`;
  const said = message.length > MAXIMUM_ECHO ? `${message.slice(0, MAXIMUM_ECHO)}…` : message;
  return `You said: "${said}".${attached} ${INTRODUCTION}`;
}

/** A system prompt may ask for all answers in upper or lower case. */
function applyStyle(answer: string, system: string): string {
  const style =
    /\b(?:answer|reply|respond|write|speak|talk)s? (?:only |always )?in (?:all )?(upper|lower) ?case\b/i.exec(
      system,
    );
  if (style?.[1] === undefined) return answer;
  return style[1].toLowerCase() === "upper" ? answer.toUpperCase() : answer.toLowerCase();
}

function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(?:"([^"]*)"|“([^”]*)”|'([^']*)'|`([^`]*)`)[.!?]?$/s.test(trimmed)
    ? trimmed.replace(/[.!?]$/, "").slice(1, -1)
    : trimmed;
}
