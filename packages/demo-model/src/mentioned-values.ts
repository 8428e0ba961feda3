// Values for a schema in a message: pairs of name and value, JSON, numbers, quotes, a place, a topic.
import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import type { Preferences } from "@andante/core/internal/examples";
import type { Conversation } from "./conversation.ts";
import { paragraphAbout, topicOf } from "./prose.ts";

/** Maximum characters that are searched for values. */
const maxLength = 4_000;

/** For the input of a tool only mentioned optional properties are filled; for a reply all of them. */
export function valuesMentioned(conversation: Conversation, optional: "mentioned" | "all"): Preferences {
  const message = conversation.message.slice(0, maxLength);
  const named = new Map([...resultsIn(conversation), ...pairsIn(message)]);
  const loose = optional === "all" ? "" : message;
  const quote = inTurn([...loose.matchAll(/["“]([^"“”\n]{1,500})["”]/g)].map(([, text = ""]) => text));
  const number = inTurn([...loose.matchAll(/(?<![\w.])-?\d{1,15}(?:\.\d{1,10})?(?!\w)/g)].map(Number));
  return {
    wants: (name) => optional === "all" || named.has(spell(name)),
    *values(name, schema) {
      if (name === "") yield* jsonIn(message);
      yield* named.get(spell(name)) ?? [];
      yield* mentioned(schema, message);
      if (schema.type === "number" || schema.type === "integer") yield* number(name);
      if (schema.type === "string") yield* quote(name);
      yield* wordsFor(name, message);
    },
  };
}

/** Assigns a different entry to each name, in the order of the requests. */
function inTurn<T>(list: readonly T[]): (name: string) => readonly T[] {
  const names: string[] = [];
  return (name) => {
    if (!names.includes(name)) names.push(name);
    return list.slice(names.indexOf(name), names.indexOf(name) + 1);
  };
}

/** One spelling for `firstName`, `first_name` and `first name`. */
function spell(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

type Said = [name: string, values: JSONValue[]];

/** `name=value`, `name: some words`, each as text and, if it parses, as a number or boolean. */
function pairsIn(message: string): Said[] {
  const pairs = message.matchAll(
    /\b([A-Za-z_]\w{0,40})(?: ?= ?["']?([^\s,;"']+)|: {1,3}["']?([^,;:"'\n]{1,200})(?=[,;"'\n]|$))/g,
  );
  return [...pairs].map(([, name = "", word, words = word ?? ""]): Said => {
    const value = words.trim().replace(/[.!?]$/, "");
    const number = Number.isFinite(Number(value)) ? [Number(value)] : [];
    return [spell(name), [value, ...number, /^(?:yes|true)$/i.test(value)]];
  });
}

function resultsIn({ outcomes }: Conversation): Said[] {
  const values = outcomes.map(({ output }) => (output.type === "json" ? output.value : null));
  const objects = values.filter((value) => typeof value === "object" && value !== null);
  return objects.flatMap((fields) =>
    Object.entries(fields).map(([name, value = null]): Said => [spell(name), [value]]),
  );
}

/** The values of an enum that the message contains. */
function mentioned(schema: JSONObject, message: string): JSONValue[] {
  const words = ` ${message.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `;
  const values = Array.isArray(schema.enum) ? schema.enum : [];
  return values.filter((value) => typeof value === "string" && words.includes(` ${value.toLowerCase()} `));
}

/** The JSON object in a text, as a list of one; an empty list when there is none. */
export function jsonIn(text = ""): JSONValue[] {
  try {
    return [JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))];
  } catch {
    return [];
  }
}

/** Words of the message for properties with well-known names. */
function wordsFor(name: string, message: string): string[] {
  const topic = topicOf(message);
  const place = /\b(?:in|for|at|from|to) (\p{Lu}[\p{L}'-]{1,40}(?: \p{Lu}[\p{L}'-]{1,40}){0,3})/u.exec(
    message,
  );
  if (/city|location|place|town|country/i.test(name)) return place?.slice(1, 2) ?? [];
  if (/title|headline|subject/i.test(name)) return [topic.charAt(0).toUpperCase() + topic.slice(1)];
  if (/^$|topic|keyword|theme|tag|label/i.test(name)) return [topic];
  if (/query|question|prompt|input|search|task/i.test(name)) return [message];
  if (/summary|description|reason|note|comment/i.test(name)) return [`A few words about ${topic}.`];
  return /text|content|body|article|story|message|reply/i.test(name) ? [paragraphAbout(topic)] : [];
}
