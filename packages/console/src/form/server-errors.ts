// Splits the server's error message about a value, and assigns each part to its field in plain words.
import type { JsonSchema } from "@andante/client";
import { asSchema } from "./as-schema.ts";

/** Errors in the structure of the form library: nested by field name, then the messages. */
export interface FieldErrors {
  readonly [name: string]: FieldErrors | { readonly __errors: string[] } | string[];
}

const intro = /^(?:Input|Resume data) validation failed: /;

/** `rest` are the messages without a field. */
export function errorsByField(
  error: unknown,
  schema: JsonSchema | undefined,
): { readonly fields: FieldErrors; readonly rest: string | undefined } {
  if (error === undefined) return { fields: {}, rest: undefined };
  const message = error instanceof Error ? error.message : String(error);
  if (schema === undefined || !intro.test(message)) return { fields: {}, rest: message };
  const fields: Record<string, FieldErrors> = {};
  const rest: string[] = [];
  for (const sentence of message.replace(intro, "").split("; ")) {
    const path = /^([^\s:]+): /.exec(sentence)?.[1];
    if (path === undefined || !isField(schema, path)) rest.push(sentence);
    else put(fields, path.split("."), plainWords(sentence.slice(path.length + 2)));
  }
  return { fields, rest: rest.length > 0 ? rest.join("; ") : undefined };
}

/** The schema library's sentences about single values, and the same for readers who write no code. */
const plain: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [/^Invalid input: expected \S+, received undefined$/, () => "This is required"],
  [/^Invalid input: expected true$/, () => "This must be Yes"],
  [
    /^Invalid option: expected one of (.+)$/,
    (_, all = "") => `Choose ${all.replaceAll('"', "").replaceAll("|", " or ")}`,
  ],
  [/^Invalid input: expected int, received number$/, () => "This must be a whole number"],
  [/^Invalid input: expected (number|int), received \S+$/, () => "This must be a number"],
  [/^Invalid input: expected string, received \S+$/, () => "This must be text"],
  [/^Too small: expected number to be >=(.+)$/, (_, least) => `This must be at least ${least}`],
  [/^Too small: expected number to be >(.+)$/, (_, least) => `This must be more than ${least}`],
  [/^Too big: expected number to be <=(.+)$/, (_, most) => `This must be at most ${most}`],
  [/^Too big: expected number to be <(.+)$/, (_, most) => `This must be less than ${most}`],
  [
    /^Too small: expected \S+ to have >=(\d+) (\S+)$/,
    (_, least, what) => `At least ${least} ${what} are needed`,
  ],
  [
    /^Too big: expected \S+ to have <=(\d+) (\S+)$/,
    (_, most, what) => `At most ${most} ${what} are possible`,
  ],
  [/^Invalid ISO date$/, () => "This must be a date"],
  [/^Invalid ISO datetime$/, () => "This must be a date with a time"],
  [/^Invalid email address$/, () => "This must be an e-mail address"],
  [/^Invalid URL$/, () => "This must be a web address"],
];

/** The message in plain words; a message that is not known here is the server's own. */
function plainWords(message: string): string {
  for (const [pattern, words] of plain) {
    const found = pattern.exec(message);
    if (found !== null) return words(...found);
  }
  return message;
}

function isField(schema: JsonSchema, path: string): boolean {
  const [first = ""] = path.split(/[.[]/);
  return Object.hasOwn(asSchema(schema.properties), first);
}

function put(fields: Record<string, unknown>, path: readonly string[], message: string): void {
  const [name = "", ...below] = path;
  const inside: Record<string, unknown> = { ...asSchema(fields[name]) };
  const { __errors: known } = inside;
  if (below.length > 0) put(inside, below, message);
  else inside.__errors = [...(Array.isArray(known) ? known : []), message];
  fields[name] = inside;
}
