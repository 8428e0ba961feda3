// Schedules, and other small rows that are due at a time: the part of the store contract that keeps when executions are started
// and events are delivered. A row changes by conditional writes alone. The execution that an occurrence starts is created in the
// write that moves the row on; a delivery is kept with the commit whose event it delivers.

/**
 * A schedule; the sets of schedules that processes declare for a workflow or an agent, the events that start a workflow, and
 * endpoints, which are never due; or the delivery of an event to an endpoint.
 */
export const scheduleKinds = ["schedule", "set", "trigger", "endpoint", "delivery"] as const;
export type ScheduleKind = (typeof scheduleKinds)[number];

/** The beginning of the ids of deliveries. */
export const deliveryPrefix = "d/";

/** The execution whose event a delivery delivers, from its id; undefined for any other id. */
export function executionOfDelivery(id: string): string | undefined {
  const [, executionId] = /^d\/[^/]+\/\d+\/(.+)\/\d{15}[\w.-]+$/s.exec(id) ?? [];
  return executionId;
}

export interface ScheduleRow {
  readonly scheduleId: string;
  readonly kind: ScheduleKind;
  /** Empty for a schedule of an agent. */
  readonly workflowId: string;
  /** Null for a schedule of a workflow. */
  readonly agentId: string | null;
  readonly userId: string | null;
  /** When it is to be looked at next; null for never. */
  readonly dueAt: number | null;
  /** Random, another one with each write. */
  readonly version: string;
  /** Everything else, a JSON object. */
  readonly body: string;
}

/** With its last occurrences or attempts, a JSON array. */
export interface StoredSchedule extends ScheduleRow {
  readonly occurrences: string;
}

/** `Execution`: a new one, as `create` of the store takes it. */
export interface ChangeSchedule<Execution> {
  readonly scheduleId: string;
  /** The version that the caller has read; null where it found none. */
  readonly expected: string | null;
  /** The new row; its version is the key of the write. Null removes it. */
  readonly row: StoredSchedule | null;
  /** The execution that it starts: with the row, or not at all. Default: none. */
  readonly create?: Execution | undefined;
}

/**
 * - `written`: both are kept, now or by the same call before; or the row is removed, now or by any call before.
 * - `changed`: the row has another version; nothing is written.
 * - `exists`: an execution with this id is there; nothing is written.
 */
export type ChangeScheduleResult = "written" | "changed" | "exists";

export interface ScheduleQuery {
  readonly kind: ScheduleKind;
  readonly workflowId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  /** Ids behind this one. Default: from the first on. */
  readonly after?: string | undefined;
  /** Ids before this one. Default: to the last. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** Characters; a page ends with the row that reaches it. Default: 8 000 000, which is also the most. */
  readonly length?: number | undefined;
  /** Bodies are left out: "". */
  readonly brief?: boolean | undefined;
}

export interface ScheduleStore<Execution> {
  change(change: ChangeSchedule<Execution>): Promise<ChangeScheduleResult>;
  read(scheduleId: string): Promise<StoredSchedule | undefined>;
  /** By their ids. A page may end early: only one without rows is the end. */
  list(query: ScheduleQuery): Promise<readonly ScheduleRow[]>;
}
