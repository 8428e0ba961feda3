// Asks a model for an object of a shape, and once more when the first reply does not fit.
import type { ModelMessage } from "ai";
import type { ObjectShape } from "../schema/object-shape.ts";

/** A reply that fits, or why the last one does not. */
export type ObjectReply<Value = unknown> =
  | { readonly ok: true; readonly value: Value; readonly text: string }
  | { readonly ok: false; readonly detail: string; readonly text: string };

/** Sends the messages to the model and resolves to its text. */
export type Ask = (messages: ModelMessage[]) => PromiseLike<string>;

export async function askForObject<Value>(
  messages: readonly ModelMessage[],
  shape: ObjectShape<Value>,
  ask: Ask,
): Promise<ObjectReply<Value>> {
  return checkOrRetry(await ask([...messages]), messages, shape, ask);
}

/** Checks the first reply. When it does not fit, the model is shown the problem and tries again. */
export async function checkOrRetry<Value>(
  text: string,
  messages: readonly ModelMessage[],
  shape: ObjectShape<Value>,
  ask: Ask,
): Promise<ObjectReply<Value>> {
  const first = await checkReply(text, shape);
  if (first.ok) return first;
  const problem = `That does not fit: ${first.detail}. Reply again, with nothing but JSON that matches the schema.`;
  const said: ModelMessage[] = text === "" ? [] : [{ role: "assistant", content: text }];
  return checkReply(await ask([...messages, ...said, { role: "user", content: problem }]), shape);
}

async function checkReply<Value>(text: string, { check }: ObjectShape<Value>): Promise<ObjectReply<Value>> {
  const read = readObject(text);
  if (read === undefined) return { ok: false, detail: "it is not JSON", text };
  const result = await check(read.value);
  return result.ok ? { ok: true, value: result.value, text } : { ...result, text };
}

/** The JSON value in the text; undefined when the text is not JSON. */
export function readObject(text: string): { readonly value: unknown } | undefined {
  const inner = withoutFence(text.trim());
  try {
    return { value: JSON.parse(inner) };
  } catch {
    return undefined;
  }
}

/** Models often wrap JSON in a fenced block. Not a regular expression: on a reply of blanks one took cubic time. */
function withoutFence(text: string): string {
  const fence = "```";
  if (!text.startsWith(fence) || !text.endsWith(fence)) return text;
  const inner = text.slice(fence.length, -fence.length);
  return inner.startsWith("json") ? inner.slice("json".length) : inner;
}
