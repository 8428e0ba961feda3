// Asks a model for an object that fits a schema, and once more when the first answer does not.
import { jsonSchema, type ModelMessage, Output } from "ai";
import type { JsonSchema, Validation } from "../../values/schema.ts";
import type { AnyOutput } from "../call/any-agent.ts";
import { readObject } from "./read-object.ts";

/** What an object must be: the schema that the model is shown, and the check that decides. */
export interface ObjectShape {
  readonly schema: JsonSchema;
  check(value: unknown): Validation | Promise<Validation>;
}

/** An answer that fits, or why the last one does not. */
export type ObjectReply =
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  | { readonly ok: false; readonly detail: string; readonly text: string };

/** Asks with these messages; answers with the model's text. */
export type Ask = (messages: ModelMessage[]) => PromiseLike<string>;

/** The output that the AI SDK is asked for. The text is read here, not there: its errors would end the answer. */
export function objectOutput({ schema }: ObjectShape): AnyOutput {
  return {
    ...Output.object({ schema: jsonSchema<unknown>(schema) }),
    parseCompleteOutput: async ({ text }) => text,
  };
}

/** The messages for an agent that takes no schema: it is told in words, at the end of what it is asked. */
export function withSchemaInWords(
  messages: readonly ModelMessage[],
  { schema }: ObjectShape,
): ModelMessage[] {
  const words = `Answer with JSON alone that fits this JSON Schema:\n${JSON.stringify(schema)}`;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: words }];
  const { content } = last;
  const asked =
    typeof content === "string"
      ? `${content}\n\n${words}`
      : [...content, { type: "text" as const, text: words }];
  return [...messages.slice(0, -1), { ...last, content: asked }];
}

export async function askForObject(
  messages: readonly ModelMessage[],
  shape: ObjectShape,
  ask: Ask,
): Promise<ObjectReply> {
  const first = await judge(await ask([...messages]), shape);
  return first.ok ? first : repair(messages, shape, first, ask);
}

/** The second try: the model is shown what was wrong with the first. */
export async function repair(
  messages: readonly ModelMessage[],
  shape: ObjectShape,
  { text, detail }: Extract<ObjectReply, { ok: false }>,
  ask: Ask,
): Promise<ObjectReply> {
  const complaint = `That does not fit: ${detail}. Answer again, with JSON alone that fits the schema.`;
  const said: ModelMessage[] = text === "" ? [] : [{ role: "assistant", content: text }];
  return judge(await ask([...messages, ...said, { role: "user", content: complaint }]), shape);
}

export async function judge(text: string, { check }: ObjectShape): Promise<ObjectReply> {
  const read = readObject(text);
  if (read === undefined) return { ok: false, detail: "it is no JSON", text };
  const result = await check(read.value);
  return result.ok ? { ok: true, value: result.value, text } : { ...result, text };
}
