// Finds executions in the store: those of registered workflows, and those whose workflow is gone.
import { ExecutionNotFoundError } from "../errors/index.ts";
import type { Engine } from "../execution/engine/engine.ts";
import type { LoadableState } from "../execution/engine/engine-kind.ts";
import type { ExecutionHead, StoredExecution } from "../store/store.ts";

/** The workflow, the user and the conversation that an execution belongs to. */
export type ExecutionIds = Pick<ExecutionHead, "workflowId" | "userId" | "conversationId">;

type RowParts = Pick<Engine, "store" | "workflow" | "kind" | "folds">;

export class ExecutionRows {
  readonly #engine: RowParts;
  readonly #ready: Promise<void>;

  constructor(engine: RowParts, ready: Promise<void>) {
    this.#engine = engine;
    this.#ready = ready;
  }

  /** The execution, when it exists and belongs to this workflow, which must be registered: to run it, it has to be. */
  async ofRegistered(workflowId: string, executionId: string): Promise<StoredExecution> {
    await this.#ready;
    this.#engine.workflow(workflowId);
    return this.of(workflowId, executionId);
  }

  /** The same, without a read where it has gone idle in this process and no other one can write to it. */
  async toResume(workflowId: string, executionId: string): Promise<LoadableState> {
    const idle = this.#engine.folds.idleState(executionId);
    return idle?.execution.workflowId === workflowId ? idle : this.ofRegistered(workflowId, executionId);
  }

  /** The same of a workflow that may not be registered any more: its executions can be read and cancelled. */
  async of(workflowId: string, executionId: string): Promise<StoredExecution> {
    await this.#ready;
    const state = await this.#engine.store.state(executionId);
    if (state?.execution.workflowId === workflowId) return state;
    this.#engine.workflow(workflowId);
    throw new ExecutionNotFoundError({ executionId });
  }

  /** Its ids alone; undefined where there is no such execution of a workflow. */
  async idsOf(executionId: string): Promise<ExecutionIds | undefined> {
    await this.#ready;
    const [head] = await this.#engine.store.heads([executionId]);
    return head !== undefined && this.#engine.kind(head.kind).isAddressable ? head : undefined;
  }

  /** The execution by its id alone. */
  async find(executionId: string): Promise<StoredExecution> {
    await this.#ready;
    const state = await this.#engine.store.state(executionId);
    if (state === undefined || !this.#engine.kind(state.execution.kind).isAddressable)
      throw new ExecutionNotFoundError({ executionId });
    return state;
  }
}
