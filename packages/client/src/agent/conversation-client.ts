// One conversation: what was said in it, its title, and its end.
import { type Connection, part } from "../connection/connection.ts";
import { Listing } from "../connection/listing.ts";
import type { CallOptions } from "../connection/options.ts";
import type { Conversation, ConversationMessage, MessagePage } from "../responses/agents.ts";

export interface PageOptions extends CallOptions {
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Of one page; at most 500. Default: 50. */
  readonly limit?: number | undefined;
}

export class ConversationClient {
  readonly conversationId: string;
  readonly #connection: Connection;

  constructor(connection: Connection, conversationId: string) {
    this.#connection = connection;
    this.conversationId = conversationId;
  }

  /** Its agent, its title, and what it has used. */
  details({ signal }: CallOptions = {}): Promise<Conversation> {
    return this.#connection.repeat({ path: this.#path, signal });
  }

  /** Its messages, oldest first, as `useChat` of the AI SDK takes them. */
  messages({ signal, ...page }: PageOptions = {}): Listing<MessagePage, ConversationMessage> {
    return new Listing(
      (cursor = page.cursor) =>
        this.#connection.repeat({ path: `${this.#path}/messages`, query: { ...page, cursor }, signal }),
      ({ messages }) => messages,
    );
  }

  rename(title: string, { signal }: CallOptions = {}): Promise<Conversation> {
    return this.#connection.send({ method: "PATCH", path: this.#path, body: { title }, signal });
  }

  /** Removes it with its messages. */
  async remove({ signal }: CallOptions = {}): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: this.#path, signal });
  }

  get #path(): string {
    return `/api/conversations/${part(this.conversationId)}`;
  }
}
