// One execution: its state, its events, and steering it.
import { type Connection, part, respondAsync } from "../connection/connection.ts";
import { newId } from "../connection/new-id.ts";
import type { CallOptions } from "../connection/options.ts";
import type { WorkflowTypes } from "../host-types.ts";
import type { ExecutionEvent, JournalEvent } from "../responses/events.ts";
import type { ExecutionResult, ExecutionState } from "../responses/executions.ts";
import type { SuspendResult } from "../responses/wire.ts";
import { followExecution, type Place, pathOf } from "./execution-stream.ts";
import { type ResumeOptions, resumeExecution } from "./resume-execution.ts";

export interface EventsOptions extends CallOptions {
  /** Those after this number. Default: 0, from the first. */
  readonly after?: number | undefined;
  /** At most 10 000. Default: 1000. */
  readonly limit?: number | undefined;
}

export interface FollowOptions extends CallOptions {
  /** The number of the last event that is known. Default: 0, from the first. */
  readonly after?: number | undefined;
}

export interface ReasonOptions extends CallOptions {
  /** Kept in the journal. */
  readonly reason?: string | undefined;
}

export interface ReplayOptions<StepId extends string = string> extends CallOptions {
  /** The top-level step that runs first; earlier outcomes are taken over. */
  readonly stepId: StepId;
  /** Default: a new one. */
  readonly executionId?: string | undefined;
  /** Default: none, or the user of the token. */
  readonly userId?: string | undefined;
}

/** An execution that exists. Made by `workflow(…).execution(id)`, which knows its types, or by `client.execution(id)`. */
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

  /** How it stands. */
  state({ signal }: CallOptions = {}): Promise<ExecutionState<W["result"], W["input"]>> {
    return this.#connection.repeat({ path: this.#path("/state"), signal });
  }

  /** A page of its journal, errors in full. It may end early: ask for the next with `after` until it is empty. */
  events({ after, limit, signal }: EventsOptions = {}): Promise<readonly JournalEvent<W["result"]>[]> {
    return this.#connection.repeat({
      path: this.#path("/events", "/events"),
      query: { after, limit },
      signal,
    });
  }

  /**
   * Follows it to its end, through suspensions. Every journaled event comes once and in order; lost connections and
   * restarts of the server are not noticed. The last event is `workflow-result`.
   */
  async *stream<Emits = Record<never, never>>(
    options: FollowOptions = {},
  ): AsyncGenerator<ExecutionEvent<W["result"], Emits>, void> {
    const { after = 0, signal } = options;
    const place = await this.#place(signal);
    const events = followExecution(this.#connection, place, { after, until: "end", signal });
    // The journal's values are those of its workflow.
    yield* events as AsyncGenerator<ExecutionEvent<W["result"], Emits>, void>;
  }

  /** Resumes it, and waits until it ends or is suspended again. */
  resume(resumeData?: W["resume"], options: ResumeOptions = {}): Promise<ExecutionResult<W["result"]>> {
    return this.#resume(resumeData, true, options);
  }

  /** Resumes it, and returns as soon as that is committed. */
  startResume(resumeData?: W["resume"], options: ResumeOptions = {}): Promise<ExecutionResult<W["result"]>> {
    return this.#resume(resumeData, false, options);
  }

  /** Suspends it from outside. A step that runs may finish; nothing new starts. */
  async suspend({ reason, signal }: ReasonOptions = {}): Promise<SuspendResult> {
    const path = `${pathOf(await this.#place(signal))}/suspend`;
    return this.#connection.send({ method: "POST", path, body: { reason }, signal });
  }

  /** Ends it. */
  cancel({ reason, signal }: ReasonOptions = {}): Promise<ExecutionResult<W["result"]>> {
    return this.#connection.send({
      method: "POST",
      path: this.#path("/cancel", "/cancel"),
      body: { reason },
      signal,
    });
  }

  /** Starts a new execution from a step of it, and waits until that one ends or is suspended. */
  replay(options: ReplayOptions<W["stepId"]>): Promise<ExecutionResult<W["result"]>> {
    return this.#replay(options, {});
  }

  /** The same, and returns as soon as the new one is committed. */
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
    // The server has checked it against the workflow's schemas.
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

  /** Below its workflow, where that is known; else among all executions. */
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
