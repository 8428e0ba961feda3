// The children of one execution: started with an id that follows from the call, read from the store.
import type { Children, ChildState, ChildToStart } from "../../agent/durable/children.ts";
import { CapacityError, ShuttingDownError, UserShareError } from "../../errors/index.ts";
import type { Journal } from "../../journal/journal.ts";
import type { ExecutionRow, Store } from "../../store/store.ts";
import { Fields } from "../../values/fields.ts";
import { fromJson } from "../../values/json.ts";
import { bodyPathOf } from "../../values/step-path.ts";
import { childIdOf, linkTo } from "./links.ts";

/** The columns of a parent that its children take over. */
export type ParentRow = Pick<ExecutionRow, "executionId" | "userId" | "conversationId" | "context">;

/** A child as it is started. */
export interface LinkedStart {
  readonly executionId: string;
  readonly workflowId: string;
  readonly input: unknown;
  readonly parent: ParentRow;
  readonly links: string;
  readonly timeout: number | undefined;
}

/** Starts an execution with links to its parent; one that exists is left as it is. */
export type StartLinked = (start: LinkedStart) => Promise<void>;

/**
 * A class: V8 makes a new map for each object literal with a getter, and drops maps of other literals with as many properties
 * from its caches. With a literal here one step over HTTP took 0.28 ms of the processor instead of 0.22.
 */
export class ChildExecutions implements Children {
  readonly #store: Pick<Store, "state" | "endHandled">;
  readonly #start: StartLinked;
  readonly #parent: ParentRow;
  readonly #journal: Pick<Journal, "get">;
  #hasStarted = false;

  constructor(
    store: Pick<Store, "state" | "endHandled">,
    start: StartLinked,
    parent: ParentRow,
    journal: Pick<Journal, "get">,
  ) {
    this.#store = store;
    this.#start = start;
    this.#parent = parent;
    this.#journal = journal;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  idOf(path: string): string {
    // A step that an execution goes back to starts children of its own.
    const visit = this.#journal.get(bodyPathOf(path))?.startedAt ?? 0;
    return childIdOf(this.#parent.executionId, path, visit);
  }

  async read(path: string): Promise<ChildState | undefined> {
    const state = await this.#store.state(this.idOf(path));
    return state && childState(state.execution);
  }

  async start(child: ChildToStart): Promise<boolean> {
    const { workflowId, input, path, onParentEnd, background, timeout } = child;
    const parent = this.#parent;
    const links = linkTo({ executionId: parent.executionId, path, onParentEnd, background });
    this.#hasStarted = true;
    try {
      await this.#start({ executionId: this.idOf(path), workflowId, input, parent, links, timeout });
      return true;
    } catch (error) {
      if (isFull(error)) return false;
      throw error;
    }
  }

  async taken(path: string): Promise<void> {
    await this.#store.endHandled({ executionId: this.idOf(path) });
  }
}

export function childState({
  executionId,
  status,
  result,
  error,
}: Pick<ExecutionRow, "executionId" | "status" | "result" | "error">): ChildState {
  return { executionId, status, result: fromJson(result ?? undefined), problem: problemOf(error) };
}

function isFull(error: unknown): boolean {
  return (
    error instanceof CapacityError || error instanceof UserShareError || error instanceof ShuttingDownError
  );
}

function problemOf(error: string | null): string | undefined {
  if (error === null) return undefined;
  return Fields.parse(error, (problem) => new TypeError(`The error of an execution: ${problem}`)).text(
    "message",
  );
}
