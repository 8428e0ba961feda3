// The input of a caller for an agent: a string, messages of a chat client, or messages in the form of models.
import { convertToModelMessages, type ModelMessage, type ToolSet, type UIMessage } from "ai";
import { UnserializableError } from "../../errors/index.ts";
import { toJson } from "../../values/json.ts";
import { uuid } from "../../values/uuid.ts";
import { Attachments } from "../call/attachments.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { callHost, callHostNow } from "../call/host-function.ts";
import type { ConvertDataPart } from "../call/message-options.ts";
import type { Operation, OperationContext } from "../call/operation.ts";
import { checkChatMessages, checkModelMessages } from "./check-messages.ts";
import { refuse } from "./message-sizes.ts";

/** Validated messages: nothing malformed reaches a model. */
export type GivenMessages =
  | { readonly kind: "chat"; readonly messages: readonly UIMessage[] }
  | { readonly kind: "model"; readonly messages: readonly ModelMessage[] };

/** In a conversation only the `last` message counts: the history is ours, and the rest of the array is ignored. */
export async function readMessages(
  input: unknown,
  tools: ToolSet,
  which: "all" | "last",
): Promise<GivenMessages> {
  if (typeof input === "string") {
    if (input.trim() === "") refuse("the string is empty");
    return { kind: "chat", messages: [userMessage([{ type: "text", text: input }])] };
  }
  if (!Array.isArray(input)) refuse("expected a string or an array of messages");
  if (input.length === 0) refuse("the array of messages is empty");
  const counted = which === "last" ? input.slice(-1) : input;
  // Also bounds the depth: the following code walks it recursively.
  checkJson(counted);
  const [first] = counted;
  return typeof first === "object" && first !== null && "parts" in first
    ? { kind: "chat", messages: await checkChatMessages(counted, tools) }
    : { kind: "model", messages: await checkModelMessages(counted) };
}

/** The messages in the form of models. */
export async function forModel(
  given: GivenMessages,
  tools: ToolSet,
  convertDataPart?: ConvertDataPart,
): Promise<ModelMessage[]> {
  if (given.kind === "model") return [...given.messages];
  return convertToModelMessages([...given.messages], {
    tools,
    ignoreIncompleteToolCalls: true,
    ...(convertDataPart && {
      convertDataPart: (part) => callHostNow("convertDataPart", () => convertDataPart(part)),
    }),
  });
}

/** Loads the files of a conversation for this agent. */
export function attachmentsOf(agent: CallableAgent, operation: Operation): Attachments {
  return new Attachments(() => agent.supportedUrls(operation), operation.signal, operation.files);
}

/** A conversation in the form of models, as the agent's `memory` and `convertDataPart` make it. */
export async function historyForModel(
  { memory, convertDataPart }: Pick<CallableAgent, "memory" | "convertDataPart">,
  history: readonly UIMessage[],
  tools: ToolSet,
  operation: OperationContext,
): Promise<ModelMessage[]> {
  const { recall, prepare } = memory;
  const recalled = await (recall &&
    callHost("memory.recall", () => recall({ text: questionIn(history), messages: history }, operation)));
  const seen = recalled === undefined ? history : [...recalled, ...history];
  const messages =
    prepare === undefined ? seen : await callHost("memory.prepare", () => prepare(seen, operation));
  return forModel({ kind: "chat", messages }, tools, convertDataPart);
}

/** The text of the last message of the user. */
function questionIn(history: readonly UIMessage[]): string {
  const last = history.findLast(({ role }) => role === "user");
  return last?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
}

/** The last message as a chat message, for a conversation. */
export function lastOf(given: GivenMessages): UIMessage {
  if (given.kind === "chat") return given.messages.at(-1) ?? refuse("the array of messages is empty");
  const last = given.messages.at(-1);
  if (last?.role !== "user") refuse("in a conversation the last message must be from the user");
  const { content } = last;
  return userMessage(typeof content === "string" ? [{ type: "text", text: content }] : content.map(chatPart));
}

function userMessage(parts: UIMessage["parts"]): UIMessage {
  return { id: uuid(), role: "user", parts };
}

type UserPart = Exclude<Extract<ModelMessage, { role: "user" }>["content"], string>[number];

function chatPart(part: UserPart): UIMessage["parts"][number] {
  if (part.type === "text") return { type: "text", text: part.text };
  return refuse("in a conversation files must be parts of chat messages");
}

function checkJson(input: unknown): void {
  try {
    toJson(input, "input");
  } catch (error) {
    if (error instanceof UnserializableError) refuse(error.message);
    throw error;
  }
}
