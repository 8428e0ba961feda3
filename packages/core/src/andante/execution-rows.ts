// Finds executions in the store: those of registered workflows, and those whose workflow is gone.
import { ExecutionNotFoundError } from "../errors/index.ts";
import type { Engine } from "../execution/engine/engine.ts";
import { type ExecutionSuspension, viewSuspension } from "../execution/stream/views.ts";
import type { StoredExecution } from "../store/store.ts";
import { textLength } from "../store/text-length.ts";

/** What an execution waits for. */
export interface OpenSuspensions {
  readonly suspensions: readonly ExecutionSuspension[];
  /** How long they are, in characters. */
  readonly length: number;
  /** How long all of it is that had to be read for them. */
  readonly lengthRead: number;
}

export class ExecutionRows {
  readonly #engine: Engine;
  readonly #ready: Promise<void>;

  constructor(engine: Engine, ready: Promise<void>) {
    this.#engine = engine;
    this.#ready = ready;
  }

  /** The execution, when it exists and belongs to this workflow, which must be registered: to run it, it has to be. */
  async ofRegistered(workflowId: string, executionId: string): Promise<StoredExecution> {
    await this.#ready;
    this.#engine.workflow(workflowId);
    return this.of(workflowId, executionId);
  }

  /** The same of a workflow that may not be registered any more: its executions can be read and cancelled. */
  async of(workflowId: string, executionId: string): Promise<StoredExecution> {
    await this.#ready;
    const state = await this.#engine.store.state(executionId);
    if (state?.execution.workflowId === workflowId) return state;
    this.#engine.workflow(workflowId);
    throw new ExecutionNotFoundError({ executionId });
  }

  /** The execution by its id alone. */
  async find(executionId: string): Promise<StoredExecution> {
    await this.#ready;
    const state = await this.#engine.store.state(executionId);
    // A turn belongs to its conversation, not to who knows its id.
    if (state?.execution.kind !== "workflow") throw new ExecutionNotFoundError({ executionId });
    return state;
  }

  /** The open suspensions of an execution, without what is large beside them. */
  async suspensions(executionId: string): Promise<OpenSuspensions> {
    const state = await this.find(executionId);
    const workflow = this.#engine.workflows.get(state.execution.workflowId);
    return {
      suspensions: state.suspensions.map((each) => viewSuspension(workflow, each)),
      length: textLength(state.suspensions),
      lengthRead: textLength(state),
    };
  }
}
