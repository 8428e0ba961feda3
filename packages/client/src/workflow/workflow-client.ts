// One workflow: starts and finds its executions.
import { type Connection, part, respondAsync } from "../connection/connection.ts";
import { type Listing, listing } from "../connection/listing.ts";
import { newId } from "../connection/new-id.ts";
import type { CallOptions, PageOptions } from "../connection/options.ts";
import type { WorkflowTypes } from "../host-types.ts";
import type { ExecutionEvent } from "../responses/events.ts";
import type { ExecutionResult } from "../responses/executions.ts";
import type {
  ExecutionPage,
  ExecutionStatus,
  ExecutionSummary,
  WorkflowDetail,
  WorkflowExample,
} from "../responses/wire.ts";
import { ExecutionClient } from "./execution-client.ts";
import { followExecution } from "./execution-stream.ts";

export interface StartOptions extends CallOptions {
  /** Starts with the same id, workflow, input and user return one execution. Default: a new id. */
  readonly executionId?: string | undefined;
  /** The owner; with authentication the token's user takes precedence. Default: none. */
  readonly userId?: string | undefined;
  /** The conversation it belongs to. Default: none. */
  readonly conversationId?: string | undefined;
  /** Further data for its steps. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Tags in addition to those of the workflow. Default: none. */
  readonly tags?: readonly string[] | undefined;
}

export interface ExecutionFilter extends PageOptions {
  readonly status?: ExecutionStatus | undefined;
  readonly userId?: string | undefined;
  readonly tag?: string | undefined;
  /** A prefix of the execution's id. */
  readonly id?: string | undefined;
  /** Replays of this execution. */
  readonly replayOf?: string | undefined;
  /** Only those that no process may run. Default: false. */
  readonly parked?: boolean | undefined;
  /** Started at this time or later. */
  readonly from?: Date | string | undefined;
  /** Started before this time. */
  readonly to?: Date | string | undefined;
  /** Add `explanation` to open executions: the reason why they wait; at most 100 of a page. Default: false. */
  readonly explain?: boolean | undefined;
}

/** The events of a new execution, which starts when they are first read. */
export interface ExecutionStream<Event> extends AsyncIterable<Event> {
  /** Known before the start: with it any client can follow or resume the execution. */
  readonly executionId: string;
}

export class WorkflowClient<W extends WorkflowTypes = WorkflowTypes> {
  readonly workflowId: string;
  readonly #connection: Connection;

  constructor(connection: Connection, workflowId: string) {
    this.#connection = connection;
    this.workflowId = workflowId;
  }

  /** Its steps and schemas. */
  details({ signal }: CallOptions = {}): Promise<WorkflowDetail> {
    return this.#connection.repeat({ path: this.#path, signal });
  }

  /** An example input, and example calls. */
  example({ signal }: CallOptions = {}): Promise<WorkflowExample> {
    return this.#connection.repeat({ path: `/api${this.#path}/example`, signal });
  }

  /**
   * Starts an execution and waits until it ends or is suspended. Throws for a failed execution, with the code
   * `execution-failed` and its `executionId`.
   */
  execute(input: W["input"], options: StartOptions = {}): Promise<ExecutionResult<W["result"]>> {
    return this.#start(input, options, {});
  }

  /** Starts an execution and returns as soon as it is committed; it continues on the server. */
  async start(input: W["input"], options: StartOptions = {}): Promise<ExecutionClient<W>> {
    const { executionId } = await this.#start(input, options, respondAsync);
    return this.execution(executionId);
  }

  /**
   * Starts an execution and follows it until it ends or is suspended, through lost connections and restarts of the
   * server. Yields every journaled event once and in order; the last event is `workflow-result`.
   */
  stream<Emits = Record<never, never>>(
    input: W["input"],
    options: StartOptions = {},
  ): ExecutionStream<ExecutionEvent<W["result"], Emits>> {
    const { signal, executionId, body } = starting(input, options);
    const place = { workflowId: this.workflowId, executionId };
    const follow = () =>
      followExecution(this.#connection, place, { after: 0, until: "settled", start: body, signal });
    return {
      executionId,
      // The values of the journal have the types of its workflow.
      [Symbol.asyncIterator]: () => follow() as AsyncGenerator<ExecutionEvent<W["result"], Emits>, void>,
    };
  }

  /** An existing execution of this workflow. */
  execution(executionId: string): ExecutionClient<W> {
    return new ExecutionClient(this.#connection, executionId, this.workflowId);
  }

  /** Its executions, newest first. */
  executions(filter: ExecutionFilter = {}): Listing<ExecutionPage, ExecutionSummary> {
    return listing(this.#connection, `${this.#path}/executions`, filter, ({ executions }) => executions);
  }

  get #path(): string {
    return `/workflows/${part(this.workflowId)}`;
  }

  #start(
    input: W["input"],
    options: StartOptions,
    headers: Readonly<Record<string, string>>,
  ): Promise<ExecutionResult<W["result"]>> {
    const { signal, body } = starting(input, options);
    return this.#connection.repeat({ method: "POST", path: `${this.#path}/execute`, body, headers, signal });
  }
}

/** The client chooses the id before the first attempt, so that a start can be retried. */
function starting(input: unknown, { signal, ...options }: StartOptions) {
  const executionId = options.executionId ?? newId();
  return { signal, executionId, body: { input, options: { ...options, executionId } } };
}
