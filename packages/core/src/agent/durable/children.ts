// Executions that a call of a tool starts: how its code reaches them, whichever execution it is part of itself.
import type { ExecutionStatus } from "../../store/store.ts";

/** The effect of the parent's end on a child that runs then. */
export type OnParentEnd = "cancel" | "continue";

export interface ChildToStart {
  readonly workflowId: string;
  readonly input: unknown;
  /** The path of the call's wait, which its end continues. */
  readonly path: string;
  readonly onParentEnd: OnParentEnd;
  /** Milliseconds; undefined for the time limit of its workflow. */
  readonly timeout: number | undefined;
}

export interface ChildState {
  readonly executionId: string;
  readonly status: ExecutionStatus;
  readonly result: unknown;
  /** Why it failed; undefined where it has not. */
  readonly problem: string | undefined;
}

/** The children of one execution, by the paths of the calls that wait for them. */
export interface Children {
  /** Undefined when it was not started, or is deleted. */
  read(path: string): Promise<ChildState | undefined>;
  /** Starts it, once. False while this process can start nothing. */
  start(child: ChildToStart): Promise<boolean>;
  /** The parent knows its end. */
  taken(path: string): Promise<void>;
}
