// The facts that agents keep of a user or in a conversation.
import type { Connection } from "../connection/connection.ts";
import type { CallOptions } from "../connection/options.ts";
import type { AgentFacts, Facts } from "../responses/wire.ts";

export interface ChangeFactsOptions extends CallOptions {
  /** Needed where several agents keep facts. Default: the only one. */
  readonly agentId?: string | undefined;
}

export class FactsClient {
  protected readonly connection: Connection;
  protected readonly path: string;

  constructor(connection: Connection, path: string) {
    this.connection = connection;
    this.path = path;
  }

  /** Those of each agent that keeps some, with their history. */
  async read({ signal }: CallOptions = {}): Promise<readonly AgentFacts[]> {
    const { facts } = await this.connection.repeat<Facts>({ path: this.path, signal });
    return facts;
  }

  /** Changes them by a JSON merge patch: null removes a fact, a field that is left out stays. */
  change(
    facts: Readonly<Record<string, unknown>>,
    { agentId, signal }: ChangeFactsOptions = {},
  ): Promise<AgentFacts> {
    return this.connection.send({ method: "PATCH", path: this.path, body: { facts, agentId }, signal });
  }
}

export class UserFactsClient extends FactsClient {
  /** Removes all of them with their history. */
  async remove({ signal }: CallOptions = {}): Promise<void> {
    await this.connection.send({ method: "DELETE", path: this.path, signal });
  }
}
