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

export function childrenOf(
  store: Pick<Store, "state" | "endHandled">,
  start: StartLinked,
  parent: ParentRow,
  journal: Pick<Journal, "get">,
): Children {
  // A step that an execution goes back to starts children of its own.
  const idOf = (path: string) =>
    childIdOf(parent.executionId, path, journal.get(bodyPathOf(path))?.startedAt ?? 0);
  let hasStarted = false;
  return {
    get hasStarted() {
      return hasStarted;
    },
    idOf,
    async read(path) {
      const state = await store.state(idOf(path));
      return state && childState(state.execution);
    },
    async start({ workflowId, input, path, onParentEnd, background, timeout }: ChildToStart) {
      const links = linkTo({ executionId: parent.executionId, path, onParentEnd, background });
      hasStarted = true;
      try {
        await start({ executionId: idOf(path), workflowId, input, parent, links, timeout });
        return true;
      } catch (error) {
        if (isFull(error)) return false;
        throw error;
      }
    },
    taken: (path) => store.endHandled({ executionId: idOf(path) }),
  };
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
