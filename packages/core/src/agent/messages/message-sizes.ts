// How much a caller's messages may hold: checked before the AI SDK's schemas see them.
//
// The schemas are unions of every kind of part and collect the problems of each kind: a part that fits none took 0.9 ms and
// 115 KB, and a wrong element of a list inside a part 0.1 ms. So parts, and the lists inside them, are checked in pieces up
// to the first that does not fit, and a piece holds few values that can be wrong.
import { InputValidationError } from "../../errors/index.ts";

const maxMessages = 1000;
/** Parts of all messages together; elements of lists inside parts count too. */
const maxParts = 10_000;
/** JSON values of all messages together: each string, number, list and object is one. The AI SDK walks over them again. */
const maxValues = 200_000;
/** JSON values that can be wrong, in one piece of a part or in a message beside its parts. */
const maxCheckedValues = 500;

export type JsonObject = Readonly<Record<string, unknown>>;

/** The field with the parts of a message. */
export type PartsField = "parts" | "content";

/** Throws when the messages are more than can be checked without holding up the process. */
export function checkSizes(messages: readonly unknown[], field: PartsField): void {
  if (messages.length > maxMessages) refuse(`more than ${maxMessages} messages`);
  if (countValues(messages, maxValues) > maxValues) refuse(`more than ${maxValues} JSON values`);
  const objects = messages.filter(isObject);
  const parts = objects.flatMap(({ [field]: list }) => (Array.isArray(list) ? list.map(splitPart) : []));
  const pieces = parts.flatMap(({ rest, elements }) => [rest, ...elements]);
  if (pieces.length > maxParts) refuse(`more than ${maxParts} parts in all messages together`);
  for (const message of objects) checkSize(message, "a message", [field, "metadata"]);
  for (const piece of pieces) if (isObject(piece)) checkSize(piece, "a part", freeFields(piece, field));
}

/** The list inside a part, each element in a part of its own, and the part without them. */
export function splitPart(part: unknown): { readonly rest: unknown; readonly elements: readonly unknown[] } {
  const whole = { rest: part, elements: [] };
  if (!isObject(part)) return whole;
  const { type, citations, parts, output } = part;
  if (type === "text" && Array.isArray(citations)) {
    const elements = citations.map((each: unknown) => ({ type, text: "", citations: [each] }));
    return { rest: { ...part, citations: [] }, elements };
  }
  if (type === "steering-message" && Array.isArray(parts)) {
    const elements = parts.map((each: unknown) => ({ type, id: "", parts: [each] }));
    return { rest: { ...part, parts: [] }, elements };
  }
  if (type !== "tool-result" || !isContent(output) || !Array.isArray(output.value)) return whole;
  const named = { type, toolCallId: "", toolName: "" };
  const elements = output.value.map((each: unknown) => ({
    ...named,
    output: { type: "content", value: [each] },
  }));
  return { rest: { ...part, output: { ...output, value: [] } }, elements };
}

/** The fields of a part in which the schemas accept any JSON. */
function freeFields({ output }: JsonObject, field: PartsField): readonly string[] {
  if (field === "parts") return ["input", "output", "rawInput", "data", "approval"];
  return isContent(output) ? ["input", "inputSchemaInput"] : ["input", "inputSchemaInput", "output"];
}

function isContent(output: unknown): output is JsonObject {
  return isObject(output) && output.type === "content";
}

function checkSize(value: JsonObject, what: string, free: readonly string[]): void {
  const checked = Object.entries(value).flatMap(([key, inside]) =>
    free.includes(key) || isMetadata(key, inside) ? [] : [inside],
  );
  if (countValues(checked, maxCheckedValues) > maxCheckedValues)
    refuse(
      `${what} has more than ${maxCheckedValues} JSON values beside its data, input, output and metadata`,
    );
}

/** True for an object of objects, as providers add it to parts: any JSON inside these is right. */
function isMetadata(key: string, value: unknown): boolean {
  const isObjects = (list: unknown[]) => list.every((each) => isObject(each) && !Array.isArray(each));
  return /(Metadata|Options)$/.test(key) && isObject(value) && isObjects([value, ...Object.values(value)]);
}

/** The number of values in a value, itself included. Counting ends above `most`. */
function countValues(value: unknown, most: number): number {
  const open: unknown[] = [value];
  let count = 0;
  while (open.length > 0 && count <= most) {
    const next = open.pop();
    count++;
    if (isObject(next)) for (const inside of Object.values(next)) open.push(inside);
  }
  return count;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null;
}

/** Throws for an input that an agent cannot be asked. */
export function refuse(problem: string): never {
  throw new InputValidationError({ detail: `input: ${problem}` });
}
