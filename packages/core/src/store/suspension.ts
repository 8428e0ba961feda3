// An open suspension: of one execution, and in the list of all that wait.
import { propertyOf } from "../values/fields.ts";
import type { StoredJson } from "./stored-event.ts";

/** An open place where an execution waits. */
export interface Suspension {
  readonly suspensionId: string;
  /** Null for a pause, which was made from outside. */
  readonly path: string | null;
  readonly stepIndex: number;
  readonly reason: string;
  readonly data: StoredJson;
  readonly suspendedAt: number;
  /** When it ends by itself; null for never. */
  readonly deadline: number | null;
  /** JSON text of an `AfterDeadline`. */
  readonly onDeadline: StoredJson;
  /** The JSON Schema of its resume data, where the definition of the workflow does not say it. */
  readonly resumeSchema?: StoredJson;
  /** JSON text of `Awaits`: the events that end it. Default: none. */
  readonly awaits?: StoredJson;
  /** Who is to decide, without control characters. Default: not known. */
  readonly to?: string;
}

/** The effect of a deadline. */
export type AfterDeadline = { readonly resume: unknown } | "fail" | "cancel";

/** Reads the effect of a deadline. */
export function afterDeadline(onDeadline: StoredJson): AfterDeadline {
  const after: unknown = onDeadline === null ? "fail" : JSON.parse(onDeadline);
  return after === "fail" || after === "cancel" ? after : { resume: propertyOf(after, "resume") };
}

/** The path where a call of a tool waits for another execution. */
export function childWaitOf(callPath: string): string {
  return `${callPath}.child`;
}

/** Whether it is a wait for another execution, which ends it: it is no task for a person. */
export function isChildWait({ path }: Pick<Suspension, "path">): boolean {
  return path !== null && /#.*\.child$/s.test(path);
}

/** The condition of a list that leaves out pauses and waits for other executions, in SQL. */
export const waitsForPerson = "path is not null and path not like '%#%.child'";

/** Filters of a list of open suspensions without pauses and waits for other executions; oldest first. */
export interface WaitingQuery {
  readonly workflowId?: string | undefined;
  /** Only those of turns of this agent. */
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  /** The last of the page before. */
  readonly after?: { readonly suspendedAt: number; readonly suspensionId: string } | undefined;
  /** Only these. */
  readonly suspensionIds?: readonly string[] | undefined;
  /** Rows for counting and sorting: the reason is empty; data, outcome at the deadline and schema are left out. */
  readonly brief?: boolean | undefined;
  readonly limit: number;
  /** Stop once the strings of the rows (`textLength`) are as long as this; at least one is read. Default and most: 8 000 000. */
  readonly length?: number | undefined;
}

/** An open suspension with the execution that waits there. */
export interface WaitingSuspension {
  readonly executionId: string;
  /** "" for a turn. */
  readonly workflowId: string;
  /** The agent whose turn it is; null for a workflow. */
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startAt: number;
  readonly suspension: Suspension;
}
