// One agent: calls for text, objects, streams and chats.
import { type Connection, part, respondAsync } from "../connection/connection.ts";
import type { CallOptions } from "../connection/options.ts";
import { attach } from "../connection/read-events.ts";
import type { ObjectPart, StreamPart } from "../responses/agents.ts";
import type { JsonSchema } from "../responses/executions.ts";
import type {
  AgentDetail,
  ChatChunk,
  ConversationMessage,
  Playground,
  Queue,
  StartedReply,
  TextReply,
} from "../responses/wire.ts";
import { followChat, queueOf, readOnce, runningReply } from "./chat-stream.ts";

/** A string, or messages of the AI SDK: chat messages (`parts`) or model messages (`content`). */
export type AgentInput = string | readonly object[];

export interface AskOptions extends CallOptions {
  /** The user of the call; with authentication the token's user takes precedence. Default: none. */
  readonly userId?: string | undefined;
  /** The conversation that it belongs to: the agent sees its history, and the reply is kept. Default: none. */
  readonly conversationId?: string | undefined;
  /** Further data for the agent's functions and tools. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /**
   * What happens to the message while a reply runs in its conversation: it waits, reaches that reply with its next call of
   * the model (`chat` only), stops it, or is refused (`conversation-busy`, 409). Default: as the agent has it.
   */
  readonly whenBusy?: "queue" | "steer" | "interrupt" | "reject" | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** Maximum calls of the model in one reply. */
  readonly maxSteps?: number | undefined;
  readonly seed?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  /** How much the model reasons before it replies, at most as much as the agent allows. */
  readonly reasoning?:
    | ("provider-default" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")
    | undefined;
  /** Options for the provider's package, limited to those that the agent allows. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

export interface ChatOptions extends AskOptions {
  /** The reply continues when its reader disconnects. Default: true in a conversation. */
  readonly resumable?: boolean | undefined;
  /** Reply again to a message that already has a reply. Default: false. */
  readonly again?: boolean | undefined;
  /**
   * Another model, temperature or instructions for this reply, as the agent's playground offers them. With
   * authentication only callers for whom the host permits `agents.playground`. Default: the agent's own.
   */
  readonly playground?: PlaygroundSettings | undefined;
}

/** How one reply differs from its agent. */
export interface PlaygroundSettings {
  /** One of the models that the playground offers. Default: the agent's own. */
  readonly model?: string | undefined;
  /** Default: the agent's. */
  readonly temperature?: number | undefined;
  /** The system prompt; "" for none. Default: the agent's. */
  readonly instructions?: string | undefined;
}

/** A schema that can return itself as JSON Schema, such as one of Zod 4.2 or newer. */
export interface DescribedSchema<Output> {
  readonly "~standard": {
    readonly types?: { readonly output: Output } | undefined;
    readonly jsonSchema: { output(options: { readonly target: "draft-2020-12" }): Record<string, unknown> };
  };
}

export class AgentClient {
  readonly agentId: string;
  readonly #connection: Connection;

  constructor(connection: Connection, agentId: string) {
    this.#connection = connection;
    this.agentId = agentId;
  }

  /** Its instructions and tools. */
  details({ signal }: CallOptions = {}): Promise<AgentDetail> {
    return this.#connection.repeat({ path: this.#path(""), signal });
  }

  /** What can be changed for single replies (`playground` of `chat`). Refused where it is off, or not permitted. */
  playground({ signal }: CallOptions = {}): Promise<Playground> {
    return this.#connection.repeat({ path: this.#playgroundPath, signal });
  }

  /** Its reply as text. */
  text(input: AgentInput, options: AskOptions = {}): Promise<TextReply> {
    return this.#connection.send(this.#asking("/text", { input }, options));
  }

  /**
   * Starts a reply and returns at once. It is made in the conversation, or in a new one, also when this client is gone:
   * `conversation(conversationId).messages({ replyTo: messageId })` reads it.
   */
  start(input: AgentInput, options: AskOptions = {}): Promise<StartedReply> {
    return this.#connection.send({ ...this.#asking("/text", { input }, options), headers: respondAsync });
  }

  /** An object that fits the schema, with the schema's type; `unknown` for a plain JSON Schema. */
  object<Output>(input: AgentInput, schema: DescribedSchema<Output>, options?: AskOptions): Promise<Output>;
  object(input: AgentInput, schema: JsonSchema, options?: AskOptions): Promise<unknown>;
  object(
    input: AgentInput,
    schema: DescribedSchema<unknown> | JsonSchema,
    options: AskOptions = {},
  ): Promise<unknown> {
    return this.#connection.send(this.#asking("/object", { input, schema: jsonSchemaOf(schema) }, options));
  }

  /** The parts of its reply as a stream. A lost connection ends it; use `chat` for a reply that is resumed. */
  stream(input: AgentInput, options: AskOptions = {}): AsyncGenerator<StreamPart, void> {
    const isLast = ({ type }: StreamPart) => type === "finish" || type === "error" || type === "abort";
    return readOnce(this.#connection, this.#asking("/stream", { input }, options), isLast);
  }

  /** A growing object, for a schema as in `object`. A lost connection ends it. */
  streamObject<Output>(
    input: AgentInput,
    schema: DescribedSchema<Output>,
    options?: AskOptions,
  ): AsyncGenerator<ObjectPart<Output>, void>;
  streamObject(input: AgentInput, schema: JsonSchema, options?: AskOptions): AsyncGenerator<ObjectPart, void>;
  streamObject(
    input: AgentInput,
    schema: DescribedSchema<unknown> | JsonSchema,
    options: AskOptions = {},
  ): AsyncGenerator<ObjectPart, void> {
    const sending = this.#asking("/stream-object", { input, schema: jsonSchemaOf(schema) }, options);
    return readOnce(this.#connection, sending, ({ type }: ObjectPart) => type !== "object-delta");
  }

  /**
   * Its reply as the AI SDK's UI message stream. In a conversation the stream survives lost connections and restarts of
   * the server: the running reply is read again, and delivered chunks are skipped. Without a conversation a lost
   * connection is an error.
   */
  async *chat(
    input: AgentInput,
    { again = false, playground, ...options }: ChatOptions = {},
  ): AsyncGenerator<ChatChunk, void> {
    const trigger = again ? { trigger: "regenerate-message" } : {};
    const body = { input, ...trigger, ...(playground && { playground }) };
    const asking = this.#asking("/chat", body, options);
    const response = await this.#connection.open(
      playground === undefined ? asking : { ...asking, path: this.#playgroundPath },
    );
    const { conversationId, signal, resumable = true } = options;
    const sent = typeof input === "string" ? undefined : input.at(-1);
    const where = { agentId: this.agentId, conversationId: resumable ? conversationId : undefined };
    yield* followChat(this.#connection, { ...where, sent, signal }, response);
  }

  /** The running reply of a conversation, from its beginning; undefined without one. */
  async attach(
    conversationId: string,
    { signal }: CallOptions = {},
  ): Promise<AsyncGenerator<ChatChunk, void> | undefined> {
    const path = runningReply(this.agentId, conversationId);
    const response = await this.#connection.attempt({ signal }, () =>
      attach(this.#connection, { path, signal }),
    );
    if (response.status === 204) return undefined;
    const chat = { agentId: this.agentId, conversationId, sent: undefined, signal };
    return followChat(this.#connection, chat, response);
  }

  /** Stops the running reply of a conversation; its part so far is stored. Resolves to whether there was one. */
  async stop(conversationId: string, { signal }: CallOptions = {}): Promise<boolean> {
    const path = runningReply(this.agentId, conversationId);
    const { stopped } = await this.#connection.send<{ stopped: boolean }>({ method: "DELETE", path, signal });
    return stopped;
  }

  /** The messages that wait for their replies in a conversation, the next one first. */
  async queue(conversationId: string, { signal }: CallOptions = {}): Promise<readonly ConversationMessage[]> {
    const path = queueOf(this.agentId, conversationId);
    return (await this.#connection.repeat<Queue>({ path, signal })).messages;
  }

  /** Takes back a message that waits: it is removed, and the request that sent it ends with `message-withdrawn` (409). */
  async withdraw(conversationId: string, messageId: string, { signal }: CallOptions = {}): Promise<void> {
    const path = `${queueOf(this.agentId, conversationId)}/${part(messageId)}`;
    await this.#connection.send({ method: "DELETE", path, signal });
  }

  get #playgroundPath(): string {
    return `/api${this.#path("/playground")}`;
  }

  #path(below: string): string {
    return `/agents/${part(this.agentId)}${below}`;
  }

  #asking(below: string, body: object, { signal, ...options }: AskOptions) {
    return { method: "POST", path: this.#path(below), body: { ...body, options }, signal } as const;
  }
}

function jsonSchemaOf(schema: DescribedSchema<unknown> | JsonSchema): JsonSchema {
  return isDescribed(schema) ? schema["~standard"].jsonSchema.output({ target: "draft-2020-12" }) : schema;
}

function isDescribed(schema: DescribedSchema<unknown> | JsonSchema): schema is DescribedSchema<unknown> {
  return "~standard" in schema;
}
