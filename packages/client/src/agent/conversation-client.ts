// One conversation: its messages, its title and metadata, and its removal.
import { type Connection, part } from "../connection/connection.ts";
import { type Listing, listing } from "../connection/listing.ts";
import type { CallOptions, PageOptions } from "../connection/options.ts";
import type {
  Conversation,
  ConversationMessage,
  Decided,
  MessagePage,
  ResumedTool,
} from "../responses/wire.ts";
import { FactsClient } from "./facts-client.ts";

export interface MessagesOptions extends PageOptions {
  /** The order of the messages. Default: oldest first. */
  readonly order?: "oldest" | "newest" | undefined;
  /** Only the reply to the message of this id, with its state in `reply` of the page. Default: all messages. */
  readonly replyTo?: string | undefined;
}

export interface ForkOptions extends CallOptions {
  /** The id of the new conversation. Default: a new one. */
  readonly conversationId?: string | undefined;
  /** The id of the last message to copy. Default: all messages are copied. */
  readonly upTo?: string | undefined;
}

/** A decision about a tool call that waits for approval. */
export interface ToolDecision {
  /** The id of the approval request: of an inbox item, or of the part of the message. */
  readonly approvalId: string;
  readonly approved: boolean;
  /** The model reads it when the call is denied. Default: no reason. */
  readonly reason?: string | undefined;
  /** The input of the tool in place of the model's. Only for callers who see all conversations. Default: the model's. */
  readonly input?: unknown;
}

export class ConversationClient {
  readonly conversationId: string;
  readonly #connection: Connection;

  constructor(connection: Connection, conversationId: string) {
    this.#connection = connection;
    this.conversationId = conversationId;
  }

  /** Its agent, its title, and its usage. */
  details({ signal }: CallOptions = {}): Promise<Conversation> {
    return this.#connection.repeat({ path: this.#path, signal });
  }

  /** Its messages in the form of the AI SDK's `useChat`; oldest first by default. */
  messages(options: MessagesOptions = {}): Listing<MessagePage, ConversationMessage> {
    return listing(this.#connection, `${this.#path}/messages`, options, ({ messages }) => messages);
  }

  rename(title: string, options?: CallOptions): Promise<Conversation> {
    return this.change({ title }, options);
  }

  /** Changes the given fields; metadata is replaced as a whole. */
  change(
    body: { readonly title?: string; readonly metadata?: Readonly<Record<string, unknown>> },
    { signal }: CallOptions = {},
  ): Promise<Conversation> {
    return this.#connection.send({ method: "PATCH", path: this.#path, body, signal });
  }

  /** Creates another conversation with the messages of this one. */
  fork({ signal, ...body }: ForkOptions = {}): Promise<Conversation> {
    return this.#connection.send({ method: "POST", path: `${this.#path}/fork`, body, signal });
  }

  /** Decides about a tool call that waits for approval; the first decision counts, and the reply continues by itself. */
  decide(decision: ToolDecision, { signal }: CallOptions = {}): Promise<Decided> {
    return this.#connection.send({
      method: "POST",
      path: `${this.#path}/decisions`,
      body: decision,
      signal,
    });
  }

  /** Resumes a tool that waits in its own code, with data that fits its schema; the reply continues by itself. */
  resume(
    { suspensionId, resumeData }: { readonly suspensionId: string; readonly resumeData?: unknown },
    { signal }: CallOptions = {},
  ): Promise<ResumedTool> {
    const body = { suspensionId, resumeData };
    return this.#connection.send({ method: "POST", path: `${this.#path}/resume`, body, signal });
  }

  /** All stored data of it, as a response with one JSON value per line. */
  export({ signal }: CallOptions = {}): Promise<Response> {
    return this.#connection.open({ path: `${this.#path}/export`, signal });
  }

  /** The facts that agents keep in it. */
  get facts(): FactsClient {
    return new FactsClient(this.#connection, `${this.#path}/facts`);
  }

  /** Removes a summary: the model sees the messages again that it stands for. */
  async removeSummary(messageId: string, { signal }: CallOptions = {}): Promise<void> {
    const path = `${this.#path}/summaries/${part(messageId)}`;
    await this.#connection.send({ method: "DELETE", path, signal });
  }

  /** Removes it with its messages. */
  async remove({ signal }: CallOptions = {}): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: this.#path, signal });
  }

  get #path(): string {
    return `/api/conversations/${part(this.conversationId)}`;
  }
}
