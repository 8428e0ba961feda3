// The deliveries that a write of an execution keeps with its events: one for each endpoint that receives the event.

import { waitOf } from "../journal/visit.ts";
import type { LinkMaker } from "../link/link-maker.ts";
import type { StoredSchedule } from "../store/schedule-store.ts";
import type { ExecutionRow, NewDelivery, Suspension } from "../store/store.ts";
import { isChildWait } from "../store/suspension.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import { deliveryIdOf, deliveryRow, messageIdOf } from "./delivery-record.ts";
import type { EndpointSettings, EndpointType } from "./endpoint-options.ts";

/** An endpoint that receives events now. */
export interface ActiveEndpoint extends EndpointSettings {
  readonly endpointId: string;
}

/** The notifications of a suspension; times in milliseconds since 1970. */
export interface Notice {
  readonly to: string | undefined;
  /** Milliseconds between reminders. */
  readonly remind: number | undefined;
  readonly escalate: { readonly at: number; readonly to: string | undefined } | undefined;
  /** When the link of its notifications expires; undefined for none. */
  readonly linkUntil: number | undefined;
}

/** The execution whose events are delivered. */
export type Reported = Pick<ExecutionRow, "executionId" | "workflowId" | "userId" | "startAt">;

/** The end of an execution. */
export interface ReportedEnd {
  readonly status: ExecutionRow["status"];
  readonly at: number;
  /** JSON texts. */
  readonly result: string | null;
  readonly error: string | null;
}

export interface ReportedSuspension {
  readonly suspension: Suspension;
  readonly notice: Notice | undefined;
}

/** The types in ids of deliveries: at one time a suspension comes before the end. */
const shortOf: Readonly<Record<EndpointType, string>> = {
  "execution.suspended": "a",
  "suspension.reminder": "b",
  "suspension.escalated": "c",
  "execution.ended": "d",
};

/** The outbox of one execution. */
export interface ExecutionOutbox {
  ofEnd(end: ReportedEnd): readonly NewDelivery[] | undefined;
  ofSuspensions(opened: readonly ReportedSuspension[]): readonly NewDelivery[] | undefined;
}

/** Characters of the values in an event; longer ones are left out. */
const maxValue = 100_000;

interface OutboxOptions {
  /** Read at each write. */
  endpoints(): readonly ActiveEndpoint[];
  /** When a delivery of now is sent at the earliest. */
  dueAt(endpointId: string): number;
  readonly links: LinkMaker;
}

export class Outbox {
  readonly #options: OutboxOptions;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** The outbox of one execution. `workflow`: for links; undefined where it only ends. */
  of(execution: Reported, workflow: WorkflowDefinition | undefined): ExecutionOutbox {
    return {
      ofEnd: (end) => this.ofEnd(execution, end),
      ofSuspensions: (opened) => this.#ofSuspensions(execution, workflow, opened),
    };
  }

  /** The deliveries of an end; undefined for none. */
  ofEnd(execution: Reported, end: ReportedEnd): readonly NewDelivery[] | undefined {
    const { status, at, result, error } = end;
    const rows = this.#rows(execution, "execution.ended", at, "execution", (isFull) => ({
      ...{ status, startAt: isoOf(execution.startAt), endAt: isoOf(at) },
      ...(isFull && { ...partOf("result", result), ...partOf("error", error) }),
    }));
    return rows.length === 0 ? undefined : rows.map((row) => ({ row, suspensionId: null }));
  }

  /** The deliveries of suspensions of steps that are opened, with their reminders; undefined for none. */
  #ofSuspensions(
    execution: Reported,
    workflow: WorkflowDefinition | undefined,
    opened: readonly ReportedSuspension[],
  ): readonly NewDelivery[] | undefined {
    if (this.#options.endpoints().length === 0) return undefined;
    const found = opened.flatMap(({ suspension, notice }) => {
      if (suspension.path === null || isChildWait(suspension)) return [];
      const { suspensionId } = suspension;
      return this.#ofSuspension(execution, workflow, suspension, notice).map((row) => ({
        row,
        suspensionId,
      }));
    });
    return found.length === 0 ? undefined : found;
  }

  #ofSuspension(
    execution: Reported,
    workflow: WorkflowDefinition | undefined,
    suspension: Suspension,
    notice: Notice | undefined,
  ): readonly StoredSchedule[] {
    const { suspensionId, path, reason, data, deadline, suspendedAt } = suspension;
    const { remind, escalate, to } = notice ?? {};
    const dataFor = (recipient: string | undefined) => (isFull: boolean) => ({
      ...{ suspensionId, stepPath: path, reason, suspendedAt: isoOf(suspendedAt) },
      ...(deadline !== null && { deadline: isoOf(deadline) }),
      ...(recipient !== undefined && { to: recipient }),
      ...this.#linkOf(execution, workflow, suspension, notice, recipient),
      ...(isFull && partOf("data", data)),
    });
    const rows = (type: EndpointType, at: number, recipient: string | undefined, every?: number | null) =>
      this.#rows(
        execution,
        type,
        at,
        suspensionId,
        dataFor(recipient),
        every === undefined ? undefined : { suspensionId, every },
      );
    return [
      ...rows("execution.suspended", suspendedAt, to),
      ...(remind === undefined ? [] : rows("suspension.reminder", suspendedAt + remind, to, remind)),
      ...(escalate === undefined ? [] : rows("suspension.escalated", escalate.at, escalate.to ?? to, null)),
    ];
  }

  #linkOf(
    { executionId }: Reported,
    workflow: WorkflowDefinition | undefined,
    { path, suspensionId }: Suspension,
    notice: Notice | undefined,
    to: string | undefined,
  ): { readonly link?: string } {
    if (notice?.linkUntil === undefined || path === null || workflow === undefined) return {};
    const place = { executionId, workflow, path, visitOf: () => waitOf(suspensionId) };
    const options = { expires: new Date(notice.linkUntil), ...(to !== undefined && { to }) };
    return { link: this.#options.links.make(place, path, options) };
  }

  #rows(
    execution: Reported,
    type: EndpointType,
    at: number,
    subject: string,
    dataOf: (isFull: boolean) => object,
    wait?: { readonly suspensionId: string; readonly every: number | null },
  ): readonly StoredSchedule[] {
    const { executionId, workflowId, userId, startAt } = execution;
    return this.#options.endpoints().flatMap(({ endpointId, on, workflows, content }) => {
      if (on !== undefined && !on.includes(type)) return [];
      if (workflows !== undefined && !workflows.includes(workflowId)) return [];
      const id = deliveryIdOf({ endpointId, startAt, executionId }, at, `${shortOf[type]}.${subject}`);
      const data = {
        executionId,
        workflowId,
        ...(userId !== null && { userId }),
        ...dataOf(content === "full"),
      };
      const record = {
        ...{ endpointId, executionId, type, messageId: messageIdOf(id), createdAt: at, attempts: 0 },
        ...{ lastStatus: null, lastError: null },
        state: wait === undefined ? ("pending" as const) : ("scheduled" as const),
        payload: payloadOf(type, at, data),
        ...{ suspensionId: wait?.suspensionId ?? null, every: wait?.every ?? null },
      };
      const dueAt = wait === undefined ? Math.max(at, this.#options.dueAt(endpointId)) : at;
      return [deliveryRow(id, { workflowId, userId, dueAt }, record, "[]")];
    });
  }
}

/** The body of an event as Standard Webhooks recommends it. */
export function payloadOf(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: isoOf(at), data });
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

function partOf(name: string, text: string | null): object {
  if (text === null) return {};
  return text.length > maxValue ? { [`${name}Omitted`]: true } : { [name]: JSON.parse(text) };
}
