// Finds the values in a message that can fill a schema: key=value pairs, quoted strings, numbers, a place, JSON.
import type { JSONValue } from "@ai-sdk/provider";
import type { Conversation } from "./prompt.ts";
import { topicOf } from "./prose.ts";
import { isShallowJson } from "./shape.ts";

/** Values are looked for in this many characters of the message. */
const MAXIMUM_SEARCHED = 4_000;

export interface Hints {
  message: string;
  /** The message in lower case, to look for the values of an enum in it. */
  lowerMessage: string;
  topic: string;
  /** Values given by name, in the message or by a tool; the names are normalized. */
  named: ReadonlyMap<string, JSONValue>;
  quoted: readonly string[];
  numbers: readonly number[];
  /** What follows "in", "for", "at" or "from" and starts with a capital: `in New York`. */
  place: string | undefined;
  /** A JSON object that stands in the message. */
  json: JSONValue | undefined;
}

export function readHints(conversation: Conversation, toolName = ""): Hints {
  const message = conversation.message.slice(0, MAXIMUM_SEARCHED);
  const quoted = [...message.matchAll(/"([^"\n]{1,500})"|“([^”\n]{1,500})”|(?<!\w)'([^'\n]{1,500})'(?!\w)/g)]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? "")
    .filter((text) => text !== toolName);
  const unquoted = message.replace(/"[^"\n]{0,500}"/g, " ");
  return {
    message,
    lowerMessage: message.toLowerCase(),
    topic: topicOf(message),
    named: readNamed(message, conversation),
    quoted,
    numbers: [...unquoted.matchAll(/(?<![\w.])-?\d{1,15}(?:\.\d{1,10})?(?![\w])/g)].map((match) =>
      Number(match[0]),
    ),
    place: /\b(?:in|for|at|from|to) (\p{Lu}[\p{L}'-]{1,40}(?: \p{Lu}[\p{L}'-]{1,40}){0,3})/u.exec(
      message,
    )?.[1],
    json: readJson(message),
  };
}

/** One spelling for `firstName`, `first_name` and `first name`. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function readNamed(message: string, conversation: Conversation): Map<string, JSONValue> {
  const named = new Map<string, JSONValue>();
  for (const { value } of conversation.tools)
    for (const [name, field] of readFields(value)) named.set(normalizeName(name), field);
  for (const [name, value] of readPairs(message)) named.set(normalizeName(name), value);
  return named;
}

/** `key=value`, `key: value` and `"key": "value"`; a value with no quotes ends at a comma or at the next key. */
function readPairs(message: string): [string, string][] {
  const pairs: [string, string][] = [];
  const keys = [...message.matchAll(/["']?\b([A-Za-z_][\w-]{0,40})["']?(?:\s?=\s?|:(?!\/\/)\s{0,3})/g)];
  let readUntil = 0;
  keys.forEach((key, index) => {
    const [whole, name = ""] = key;
    const start = key.index + whole.length;
    if (key.index < readUntil) return;
    const quoted = /^(?:"([^"]*)"|'([^']*)')/.exec(message.slice(start, start + 500));
    if (quoted !== null) readUntil = start + quoted[0].length;
    const rest = message.slice(start, keys[index + 1]?.index ?? start + 200).split(/[,;\n{[]/)[0] ?? "";
    // With "=" a bare value is one word; with ":" it may be several.
    const bare = whole.includes("=") ? rest.split(/\s/)[0] : rest.split(/\s(?:and|with)\s/)[0];
    const value = quoted?.[1] ?? quoted?.[2] ?? bare?.trim().replace(/[.!?}\]]+$/, "");
    if (value !== undefined && value !== "") pairs.push([name, value]);
  });
  return pairs;
}

/** The fields of a tool's result, when it is an object. */
function readFields(value: JSONValue | undefined): [string, JSONValue][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const fields: [string, JSONValue][] = [];
  for (const [name, field] of Object.entries(value).slice(0, 200))
    if (isShallowJson(field)) fields.push([name, field]);
  return fields;
}

function readJson(message: string): JSONValue | undefined {
  const start = message.indexOf("{");
  const end = message.lastIndexOf("}");
  if (start < 0 || end < start) return undefined;
  try {
    const value: unknown = JSON.parse(message.slice(start, end + 1));
    return isShallowJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
