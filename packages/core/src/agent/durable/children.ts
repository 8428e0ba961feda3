// Executions that a call of a tool starts: how its code reaches them, whichever execution it is part of itself.
import type { ExecutionStatus } from "../../store/store.ts";

/** The effect of the parent's end on a child that runs then. */
export type OnParentEnd = "cancel" | "continue";

/** How the end of an execution is reported when no call waits for it. */
export interface BackgroundWork {
  readonly toolName: string;
  /** The agent replies to the message. */
  readonly wake: boolean;
}

/** The end of such an execution. */
export interface BackgroundEnd extends BackgroundWork, Omit<ChildState, "executionId"> {
  readonly executionId: string;
  readonly workflowId: string;
  readonly conversationId: string;
  readonly userId: string | null;
  /** The caller's context, a JSON object. */
  readonly context: string;
}

export interface ChildToStart {
  readonly workflowId: string;
  readonly input: unknown;
  /** The path of the call's wait, which its end continues. */
  readonly path: string;
  readonly onParentEnd: OnParentEnd;
  /** Its call does not wait: its end is posted into the conversation. Default: its end continues the call. */
  readonly background?: BackgroundWork | undefined;
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
  /** Whether one was started in this life of the execution. */
  readonly hasStarted: boolean;
  idOf(path: string): string;
  /** Undefined when it was not started, or is deleted. */
  read(path: string): Promise<ChildState | undefined>;
  /** Starts it, once. False while this process can start nothing. */
  start(child: ChildToStart): Promise<boolean>;
  /** The parent knows its end. */
  taken(path: string): Promise<void>;
}
