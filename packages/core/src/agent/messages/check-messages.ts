// Checks a caller's messages with the AI SDK's schemas, up to the first part that does not fit.
import { setImmediate as turn } from "node:timers/promises";
import {
  asSchema,
  assistantModelMessageSchema,
  jsonSchema,
  type ModelMessage,
  type Schema,
  safeValidateUIMessages,
  type ToolSet,
  toolModelMessageSchema,
  type UIMessage,
  userModelMessageSchema,
} from "ai";
import { problemOfId } from "../../values/check-id.ts";
import { uuid } from "../../values/uuid.ts";
import { checkSizes, isObject, type JsonObject, refuse, splitPart } from "./message-sizes.ts";

/** Pieces after which other work of the process gets its turn: a tool call took 0.2 ms. */
const piecesAtOnce = 100;

type InputSchemas = Record<string, { inputSchema: Schema<unknown> }>;

/** Called before each piece. */
type Pace = () => Promise<void>;

/** The chat messages as the AI SDK's schema returns them, each with an id. */
export async function checkChatMessages(input: readonly unknown[], tools: ToolSet): Promise<UIMessage[]> {
  checkSizes(input, "parts");
  const schemas = inputSchemas(tools);
  const pace = pacer();
  const messages: UIMessage[] = [];
  for (const message of input) messages.push(await checkChatMessage(message, schemas, pace));
  return messages;
}

async function checkChatMessage(message: unknown, tools: InputSchemas, pace: Pace): Promise<UIMessage> {
  const { id = uuid(), role, metadata, parts } = isObject(message) ? message : {};
  if (!Array.isArray(parts)) return refuseChat();
  const check = async (list: readonly unknown[]): Promise<UIMessage> => {
    await pace();
    const result = await safeValidateUIMessages({ messages: [{ id, role, parts: list }], tools });
    return (result.success ? result.data[0] : undefined) ?? refuseChat();
  };
  const checked: UIMessage["parts"] = [];
  let head = parts.length === 0 ? await check([]) : undefined;
  for (const part of parts) {
    for (const element of splitPart(part).elements) await check([element]);
    head = await check([part]);
    checked.push(...head.parts);
  }
  if (head === undefined) return refuseChat();
  if (head.role === "system") return refuseSystem();
  const problem = problemOfId(head.id);
  if (problem !== undefined) refuse(`the id of a message: ${problem}`);
  return { ...head, ...(metadata !== undefined && { metadata }), parts: checked };
}

/** The messages in the form of models, as the AI SDK's schemas return them. */
export async function checkModelMessages(input: readonly unknown[]): Promise<ModelMessage[]> {
  checkSizes(input, "content");
  const pace = pacer();
  const messages: ModelMessage[] = [];
  for (const [index, message] of input.entries()) {
    const checked = isObject(message) ? await checkModelMessage(message, pace) : undefined;
    messages.push(checked ?? refuse(`${index}: not a message with role and content`));
  }
  return messages;
}

/** Undefined when the message does not fit the schema of its role. */
async function checkModelMessage(message: JsonObject, pace: Pace): Promise<ModelMessage | undefined> {
  const { role, content } = message;
  if (role === "system") return refuseSystem();
  const schema = schemaOf(role);
  for (const part of Array.isArray(content) ? content : []) {
    for (const piece of [...splitPart(part).elements, part]) {
      await pace();
      if (schema?.safeParse({ role, content: [piece] }).success !== true) return undefined;
    }
  }
  return schema?.safeParse(message).data;
}

function schemaOf(role: unknown) {
  switch (role) {
    case "user":
      return userModelMessageSchema;
    case "assistant":
      return assistantModelMessageSchema;
    case "tool":
      return toolModelMessageSchema;
    default:
      return undefined;
  }
}

function inputSchemas(tools: ToolSet): InputSchemas {
  const schemas = Object.entries(tools).map(([name, { inputSchema }]) => {
    const schema: Schema<unknown> = inputSchema === undefined ? jsonSchema({}) : asSchema(inputSchema);
    return [name, { inputSchema: schema }];
  });
  return Object.fromEntries(schemas);
}

function pacer(): Pace {
  let pieces = 0;
  return async () => {
    if (++pieces % piecesAtOnce === 0) await turn();
  };
}

function refuseChat(): never {
  return refuse("not an array of chat messages whose parts have the fields of their type");
}

function refuseSystem(): never {
  return refuse("system messages are not accepted: they belong in the agent's instructions");
}
