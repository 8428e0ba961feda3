// One conversation: its messages, its title, and its end.
import { type Connection, part } from "../connection/connection.ts";
import { Listing } from "../connection/listing.ts";
import type { CallOptions } from "../connection/options.ts";
import type { Conversation, ConversationMessage, MessagePage } from "../responses/wire.ts";

export interface PageOptions extends CallOptions {
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Of one page; at most 500. Default: 50. */
  readonly limit?: number | undefined;
}

export interface MessagesOptions extends PageOptions {
  /** Which messages come first. Default: the oldest. */
  readonly order?: "oldest" | "newest" | undefined;
}

export interface ForkOptions extends CallOptions {
  /** The id of the new conversation. Default: a new one. */
  readonly conversationId?: string | undefined;
  /** The id of the last message that it takes over. Default: the last one. */
  readonly upTo?: string | undefined;
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

  /** Its messages, as `useChat` of the AI SDK takes them; oldest first unless `order` says otherwise. */
  messages({ signal, ...page }: MessagesOptions = {}): Listing<MessagePage, ConversationMessage> {
    return new Listing(
      (cursor = page.cursor) =>
        this.#connection.repeat({ path: `${this.#path}/messages`, query: { ...page, cursor }, signal }),
      ({ messages }) => messages,
    );
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

  /** Begins another conversation with the messages of this one. */
  fork({ signal, ...body }: ForkOptions = {}): Promise<Conversation> {
    return this.#connection.send({ method: "POST", path: `${this.#path}/fork`, body, signal });
  }

  /** Everything that is kept of it: a response with one JSON value on each line. */
  export({ signal }: CallOptions = {}): Promise<Response> {
    return this.#connection.open({ path: `${this.#path}/export`, signal });
  }

  /** Removes it with its messages. */
  async remove({ signal }: CallOptions = {}): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: this.#path, signal });
  }

  get #path(): string {
    return `/api/conversations/${part(this.conversationId)}`;
  }
}
