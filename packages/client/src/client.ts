// createClient: every operation of a server of Andante, with the types of its workflows and agents.
import { AgentClient } from "./agent/agent-client.ts";
import { ConversationClient } from "./agent/conversation-client.ts";
import { UserFactsClient } from "./agent/facts-client.ts";
import { Connection, part } from "./connection/connection.ts";
import { type Listing, listing } from "./connection/listing.ts";
import { newId } from "./connection/new-id.ts";
import type { CallOptions, ClientOptions, PageOptions } from "./connection/options.ts";
import type { HostTypes, TypesOf, WorkflowId } from "./host-types.ts";
import { Overview } from "./overview.ts";
import type { AgentSummary } from "./responses/agents.ts";
import type { WorkflowSummary } from "./responses/executions.ts";
import type {
  Conversation,
  ConversationPage,
  EventReceipt,
  ExecutionCounts,
  ExecutionPage,
  ExecutionSummary,
  FoundExecution,
  SearchPage,
} from "./responses/wire.ts";
import { DeliveriesClient, EndpointsClient } from "./workflow/endpoints-client.ts";
import { EventsClient, type SendEventOptions } from "./workflow/events-client.ts";
import { ExecutionClient } from "./workflow/execution-client.ts";
import { SchedulesClient } from "./workflow/schedules-client.ts";
import { type ExecutionFilter, WorkflowClient } from "./workflow/workflow-client.ts";

export interface ConversationFilter<AgentId extends string = string> extends PageOptions {
  readonly agentId?: AgentId | undefined;
  readonly userId?: string | undefined;
  /** A part of the title, in any case. */
  readonly title?: string | undefined;
}

/** At most 100 executions a page. */
export type SearchFilter = Pick<ExecutionFilter, "status" | "userId" | "from" | "to"> & PageOptions;

/** A client of one server. Created by `createClient`. */
export class Client<T extends HostTypes = HostTypes> extends Overview<WorkflowId<T>> {
  /** The registered workflows. */
  workflows({ signal }: CallOptions = {}): Promise<readonly WorkflowSummary<WorkflowId<T>>[]> {
    return this.connection.repeat({ path: "/workflows", signal });
  }

  /** One workflow: starts and finds its executions. */
  workflow<Id extends WorkflowId<T>>(workflowId: Id): WorkflowClient<T["workflows"][Id]> {
    return new WorkflowClient(this.connection, workflowId);
  }

  /** Where events of executions are sent. */
  get endpoints(): EndpointsClient {
    return new EndpointsClient(this.connection);
  }

  /** The events that are sent to them. */
  get deliveries(): DeliveriesClient {
    return new DeliveriesClient(this.connection);
  }

  /** When executions start by themselves. */
  get schedules(): SchedulesClient {
    return new SchedulesClient(this.connection);
  }

  /** The events that were sent. */
  get events(): EventsClient {
    return new EventsClient(this.connection);
  }

  /** Sends an event to workflows. It has an id from its first attempt on, so it is sent once. */
  send<Name extends keyof T["events"] & string>(
    name: Name,
    data: T["events"][Name],
    { signal, id = newId(), ...options }: SendEventOptions = {},
  ): Promise<EventReceipt> {
    const body = { ...options, id, data };
    return this.connection.repeat({ method: "POST", path: `/events/${part(name)}`, body, signal });
  }

  /** The executions of all workflows, newest first. */
  executions(
    filter: ExecutionFilter & { readonly workflowId?: WorkflowId<T> | undefined } = {},
  ): Listing<ExecutionPage, ExecutionSummary> {
    return listing(this.connection, "/api/executions", filter, ({ executions }) => executions);
  }

  /**
   * Executions by a string or number of their input, result, state, suspensions or tags, newest first: the whole value, or
   * from three characters on its beginning.
   */
  search(
    text: string,
    filter: SearchFilter & { readonly workflowId?: WorkflowId<T> | undefined } = {},
  ): Listing<SearchPage, FoundExecution> {
    const query = { ...filter, text };
    return listing(this.connection, "/api/search", query, ({ executions }) => executions);
  }

  /** How many executions have each status, of the newest 500 of it that match. */
  executionCounts({
    signal,
    ...query
  }: Omit<ExecutionFilter, "status" | "explain" | "limit" | "cursor"> & {
    readonly workflowId?: WorkflowId<T> | undefined;
  } = {}): Promise<ExecutionCounts> {
    return this.connection.repeat({ path: "/api/execution-counts", query, signal });
  }

  /** Any execution by its id. `workflow(…).execution(…)` is the same with types. */
  execution(executionId: string): ExecutionClient {
    return new ExecutionClient(this.connection, executionId);
  }

  /** The registered agents. */
  agents({ signal }: CallOptions = {}): Promise<readonly AgentSummary<T["agents"]>[]> {
    return this.connection.repeat({ path: "/agents", signal });
  }

  /** One agent. */
  agent(agentId: T["agents"]): AgentClient {
    return new AgentClient(this.connection, agentId);
  }

  /** Conversations, the most recently changed first. */
  conversations(filter: ConversationFilter<T["agents"]> = {}): Listing<ConversationPage, Conversation> {
    return listing(this.connection, "/api/conversations", filter, ({ conversations }) => conversations);
  }

  /** One conversation by its id. */
  conversation(conversationId: string): ConversationClient {
    return new ConversationClient(this.connection, conversationId);
  }

  /** The facts that agents keep of a user. */
  factsOf(userId: string): UserFactsClient {
    return new UserFactsClient(this.connection, `/api/users/${part(userId)}/facts`);
  }
}

/**
 * A client for the server at an address. With the type of the host application it knows the ids, inputs, results and
 * resume data of its workflows and agents; the host itself is not imported.
 *
 * @example
 * ```ts
 * import { createClient } from "@andante/client";
 * import { createWorkflow } from "@andante/core";
 * import { serve } from "@andante/server";
 * import { z } from "zod";
 *
 * // In the server's module:
 * const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) })
 *   .andThen({ id: "times-two", execute: ({ data }) => data.n * 2 });
 * const server = await serve({ workflows: { double } });
 *
 * // Anywhere else, with `import type { server }`:
 * const andante = createClient<typeof server>({ baseUrl: "http://localhost:3141" });
 * const { status, result } = await andante.workflow("double").execute({ n: 21 });
 * ```
 */
export function createClient<Host = unknown>(options: ClientOptions): Client<TypesOf<Host>> {
  return new Client(new Connection(options));
}
