// One execution: its state, its events, and commands.
import { type Connection, part, respondAsync } from "../connection/connection.ts";
import { newId } from "../connection/new-id.ts";
import type { CallOptions } from "../connection/options.ts";
import type { WorkflowTypes } from "../host-types.ts";
import type { ExecutionEvent, JournalEvent } from "../responses/events.ts";
import type { ExecutionResult, ExecutionState } from "../responses/executions.ts";
import type { Explanation, SuspendResult } from "../responses/wire.ts";
import { followExecution, type Place, pathOf } from "./execution-stream.ts";
import { type ResumeOptions, resumeExecution } from "./resume-execution.ts";

export interface EventsOptions extends CallOptions {
  /** Only events after this number. Default: 0, from the first. */
  readonly after?: number | undefined;
  /** At most 10 000. Default: 1000. */
  readonly limit?: number | undefined;
}

export interface FollowOptions extends CallOptions {
  /** The number of the last known event. Default: 0, from the first. */
  readonly after?: number | undefined;
}

export interface ReasonOptions extends CallOptions {
  /** Stored in the journal. */
  readonly reason?: string | undefined;
}

export interface ReplayOptions<StepId extends string = string> extends CallOptions {
  /** The top-level step that runs first; the outcomes of earlier steps are copied. */
  readonly stepId: StepId;
  /** Default: a new one. */
  readonly executionId?: string | undefined;
  /** Default: none, or the user of the token. */
  readonly userId?: string | undefined;
}

/** An existing execution. Created by `workflow(…).execution(id)`, with types, or by `client.execution(id)`. */
export class ExecutionClient<W extends WorkflowTypes = WorkflowTypes> {
  readonly executionId: string;
  readonly #connection: Connection;
  #workflowId: string | undefined;

  /** Without the workflow's id it is looked up on demand. */
  constructor(connection: Connection, executionId: string, workflowId?: string) {
    this.#connection = connection;
    this.executionId = executionId;
    this.#workflowId = workflowId;
  }

  /** Its current state. */
  state({ signal }: CallOptions = {}): Promise<ExecutionState<W["result"], W["input"]>> {
    return this.#connection.repeat({ path: this.#path("/state"), signal });
  }

  /** The reason why it waits, as a sentence and as facts, or the way in which it ended. */
  explain({ signal }: CallOptions = {}): Promise<Explanation> {
    return this.#connection.repeat({ path: `/api/executions/${part(this.executionId)}/explain`, signal });
  }

  /** A page of its journal, with full errors. A page may be short: read on with `after` until a page is empty. */
  events({ after, limit, signal }: EventsOptions = {}): Promise<readonly JournalEvent<W["result"]>[]> {
    return this.#connection.repeat({
      path: this.#path("/events", "/events"),
      query: { after, limit },
      signal,
    });
  }

  /**
   * Follows it to its end, through suspensions, lost connections and restarts of the server. Yields every journaled
   * event once and in order. The last event is `workflow-result`.
   */
  async *stream<Emits = Record<never, never>>(
    options: FollowOptions = {},
  ): AsyncGenerator<ExecutionEvent<W["result"], Emits>, void> {
    const { after = 0, signal } = options;
    const place = await this.#place(signal);
    const events = followExecution(this.#connection, place, { after, until: "end", signal });
    // The values of the journal have the types of its workflow.
    yield* events as AsyncGenerator<ExecutionEvent<W["result"], Emits>, void>;
  }

  /** Resumes it, and waits until it ends or is suspended again. */
  resume(resumeData?: W["resume"], options: ResumeOptions = {}): Promise<ExecutionResult<W["result"]>> {
    return this.#resume(resumeData, true, options);
  }

  /** Resumes it, and returns as soon as the resume is committed. */
  startResume(resumeData?: W["resume"], options: ResumeOptions = {}): Promise<ExecutionResult<W["result"]>> {
    return this.#resume(resumeData, false, options);
  }

  /** Suspends it from outside. A running step may finish; no further step starts. */
  async suspend({ reason, signal }: ReasonOptions = {}): Promise<SuspendResult> {
    const path = `${pathOf(await this.#place(signal))}/suspend`;
    return this.#connection.send({ method: "POST", path, body: { reason }, signal });
  }

  /** Cancels it. */
  cancel({ reason, signal }: ReasonOptions = {}): Promise<ExecutionResult<W["result"]>> {
    return this.#connection.send({
      method: "POST",
      path: this.#path("/cancel", "/cancel"),
      body: { reason },
      signal,
    });
  }

  /** Starts a new execution from one of its steps, and waits until the new one ends or is suspended. */
  replay(options: ReplayOptions<W["stepId"]>): Promise<ExecutionResult<W["result"]>> {
    return this.#replay(options, {});
  }

  /** Starts a replay, and returns as soon as the new execution is committed. */
  async startReplay(options: ReplayOptions<W["stepId"]>): Promise<ExecutionClient<W>> {
    const { executionId } = await this.#replay(options, respondAsync);
    return new ExecutionClient(this.#connection, executionId, this.#workflowId);
  }

  async #resume(
    resumeData: W["resume"],
    wait: boolean,
    options: ResumeOptions,
  ): Promise<ExecutionResult<W["result"]>> {
    const place = await this.#place(options.signal);
    const result = await resumeExecution(this.#connection, place, { ...options, resumeData, wait });
    // The server has validated the result with the workflow's schemas.
    return result as ExecutionResult<W["result"]>;
  }

  async #replay(
    { stepId, executionId, userId, signal }: ReplayOptions<W["stepId"]>,
    headers: Readonly<Record<string, string>>,
  ): Promise<ExecutionResult<W["result"]>> {
    const path = `${pathOf(await this.#place(signal))}/replay`;
    const body = { stepId, options: { executionId: executionId ?? newId(), userId } };
    return this.#connection.repeat({ method: "POST", path, body, headers, signal });
  }

  /** The path below its workflow, if known; else below all executions. */
  #path(below: string, among = ""): string {
    const { executionId } = this;
    return this.#workflowId === undefined
      ? `/api/executions/${part(executionId)}${among}`
      : pathOf({ workflowId: this.#workflowId, executionId }) + below;
  }

  async #place(signal: AbortSignal | undefined): Promise<Place> {
    this.#workflowId ??= (await this.state({ signal })).workflowId;
    return { workflowId: this.#workflowId, executionId: this.executionId };
  }
}
