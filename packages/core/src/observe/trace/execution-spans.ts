// Derives the spans of one execution from its journal: live as events are committed, or afterwards from the store.
//
// A span is reported once, when it ends, with the time of the event that began it: so it does not matter which process
// saw the beginning.
import {
  type CheckpointCompleteEvent,
  type EndEvent,
  endStatus,
  type JournalEvent,
  type Numbered,
  type OutcomeEvent,
  type StepStartEvent,
  unknownEvent,
  type WorkflowStartEvent,
} from "../../journal/events.ts";
import { isoTime } from "../../values/iso-time.ts";
import { parentPath } from "../../values/step-path.ts";
import {
  addEvent,
  addInside,
  type OpenSpan,
  type OpenSpans,
  packSpans,
  spanOf,
  unpackSpans,
} from "./open-span.ts";
import {
  eventAttributes,
  nameOf,
  nameOfExecution,
  rootAttributes,
  stepAttributes,
  type TracedExecution,
} from "./span-attributes.ts";
import type { SpanRecord } from "./span-record.ts";
import { parseTraceparent, TraceIds } from "./trace-ids.ts";

/** Receives spans; `wants` is checked before one is made, because there are usually no listeners. */
export interface SpanListener {
  wants(): boolean;
  /** Absent where only whole spans are of use: none is made for a beginning then. */
  readonly started?: (span: SpanRecord) => void;
  ended(span: SpanRecord): void;
}

interface End {
  readonly at: number;
  readonly status: SpanRecord["status"];
  readonly error?: { readonly name: string; readonly message: string };
}

export class ExecutionSpans {
  readonly execution: TracedExecution;
  readonly #listener: SpanListener;
  #open: OpenSpans = new Map();
  #ids: TraceIds | undefined;
  #traceparent: string | undefined;
  #root: OpenSpan | undefined;
  /** The number of the last event that was applied. */
  last = 0;
  /** How many events were applied: fewer than `last` when one was published before an earlier one, which is left out. */
  #applied = 0;
  #quiet = false;
  /** `running`, `suspended`, `completed`, `error` or `cancelled`. */
  status = "running";
  endAt: number | null = null;

  /** Continues with packed ones, or from the first event. */
  constructor(execution: TracedExecution, listener: SpanListener, packed?: string) {
    this.execution = execution;
    this.#listener = listener;
    if (packed === undefined) return;
    const { root, open, last, status, traceparent } = unpackSpans(packed);
    this.#root = root;
    this.#open = open;
    this.#applied = this.last = last;
    this.status = status;
    this.#trace(traceparent);
  }

  /** True when all events up to this number were applied, and none after it. */
  isWholeAt(sequence: number): boolean {
    return this.last === sequence && this.#applied === sequence;
  }

  /** The open spans as a text that can be kept; undefined before the first event. */
  pack(): string | undefined {
    if (this.#root === undefined) return undefined;
    const { status, last } = this;
    return packSpans({ traceparent: this.#traceparent, status, last, root: this.#root, open: this.#open });
  }

  /** Undefined before the first event. */
  get ids(): TraceIds | undefined {
    return this.#ids;
  }

  get startAt(): number {
    return this.#root?.startAt ?? 0;
  }

  /** The id of the span in which the function at this path runs. */
  spanIdAt(path: string): string | undefined {
    const span = this.#nearest(path) ?? this.#root;
    return span && this.#ids?.spanId(span.sequence);
  }

  /** Applies earlier events, which listeners have received at their time. */
  replay(events: readonly JournalEvent[]): void {
    this.#quiet = true;
    for (const event of events) this.apply(event);
    this.#quiet = false;
  }

  apply(event: JournalEvent): void {
    // Replayed from the journal and published as well: the first time counts.
    if (event.sequence <= this.last) return;
    this.last = event.sequence;
    this.#applied++;
    switch (event.type) {
      case "workflow-start":
        return this.#begin(event);
      case "step-start":
        return this.#start(event);
      case "step-complete":
      case "step-skipped":
        return this.#end(event, { at: event.timestamp, status: "ok" });
      case "step-bailed":
        this.#note(this.#nearest(event.path), event);
        return this.#end(event, { at: event.timestamp, status: "ok" });
      case "step-error": {
        const { error, timestamp: at } = event;
        this.#note(this.#nearest(event.path), event, "exception");
        // A condition that fails is not the end of its step: that comes with an event of its own.
        return this.#end(event, { at, status: "error", error });
      }
      case "workflow-complete":
        return this.#finish(event, { at: event.timestamp, status: "ok" });
      case "workflow-error":
        this.#note(this.#root, event, "exception");
        return this.#finish(event, { at: event.timestamp, status: "error", error: event.error });
      case "workflow-cancelled":
        this.#note(this.#root, event, "cancelled");
        return this.#finish(event, { at: event.timestamp, status: "unset" });
      case "execution-rewound":
        this.#note(this.#root, event);
        return this.#closeInside(this.#root, event.timestamp, "rewound");
      case "workflow-suspended":
        this.status = "suspended";
        return this.#note(this.#root, event);
      case "workflow-resumed":
        this.status = "running";
        return this.#note(this.#nearest(event.path) ?? this.#root, event);
      case "checkpoint-complete":
        return this.#mark(event);
      case "step-evaluated":
      case "checkpoint-retry":
      case "step-retry":
      case "step-suspended":
      case "state-changed":
      case "emitted":
        return this.#note(this.#nearest(event.path) ?? this.#root, event);
      default:
        return unknownEvent(event);
    }
  }

  /** The spans that have begun and not ended. */
  unfinished(): SpanRecord[] {
    const spans = this.#root === undefined ? [] : [this.#root, ...this.#open.values()];
    return spans.map((span) => this.#record(span, undefined));
  }

  #begin(event: Numbered<WorkflowStartEvent>): void {
    this.#trace(event.traceparent);
    this.#root = spanOf(event, undefined);
    this.#announce(this.#root);
  }

  #trace(traceparent: string | undefined): void {
    this.#traceparent = traceparent;
    this.#ids = new TraceIds(this.execution.executionId, parseTraceparent(traceparent));
  }

  #start(event: Numbered<StepStartEvent>): void {
    const { path } = event;
    const span = spanOf(event, this.#nearest(parentPath(path)) ?? this.#root, event);
    this.#open.set(path, span);
    addInside(span);
    this.#announce(span);
  }

  /** A checkpoint has one event, with the time of its beginning: its span is reported when it has ended. */
  #mark(event: Numbered<CheckpointCompleteEvent>): void {
    const { sequence, path, startedAt: timestamp } = event;
    const span = spanOf({ sequence, timestamp }, this.#nearest(path) ?? this.#root, event);
    this.#announce(span);
    this.#close(span, { at: event.timestamp, status: "ok" });
  }

  #announce(span: OpenSpan): void {
    const { started } = this.#listener;
    if (started && !this.#quiet && this.#listener.wants()) started(this.#record(span, undefined));
  }

  #end({ path, timestamp }: OutcomeEvent, end: End): void {
    const span = this.#open.get(path);
    if (span === undefined) return;
    this.#closeInside(span, timestamp, "abandoned");
    this.#close(span, end);
  }

  #finish({ type, timestamp }: EndEvent, end: End): void {
    this.status = endStatus[type];
    this.endAt = timestamp;
    this.#closeInside(this.#root, timestamp, "abandoned");
    if (this.#root !== undefined) this.#close(this.#root, end);
  }

  /** Branches that lost, and everything else that will not end. */
  #closeInside(span: OpenSpan | undefined, at: number, why: string): void {
    if (span?.inside === undefined || span.inside.size === 0) return;
    for (const inner of [...span.inside].reverse()) {
      this.#closeInside(inner, at, why);
      addEvent(inner, { name: why, timestamp: isoTime(at), attributes: {} });
      this.#close(inner, { at, status: "unset" });
    }
  }

  #close(span: OpenSpan, end: End): void {
    if (span.path !== null) this.#open.delete(span.path);
    span.parent?.inside?.delete(span);
    if (!this.#quiet && this.#listener.wants()) this.#listener.ended(this.#record(span, end));
  }

  #note(span: OpenSpan | undefined, event: JournalEvent, name = nameOf(event.type)): void {
    if (span === undefined) return;
    const attributes = eventAttributes(event, span.path);
    addEvent(span, { name, timestamp: isoTime(event.timestamp), attributes });
  }

  /** The span of the step at this path, or of the innermost container around it. */
  #nearest(path: string | null): OpenSpan | undefined {
    for (let at = path; at !== null; at = parentPath(at)) {
      const span = this.#open.get(at);
      if (span !== undefined) return span;
    }
    return undefined;
  }

  #record(span: OpenSpan, end: End | undefined): SpanRecord {
    const { workflowId, executionId } = this.execution;
    const ids = this.#ids ?? new TraceIds(executionId, undefined);
    return {
      traceId: ids.traceId,
      spanId: ids.spanId(span.sequence),
      parentSpanId: span.parent ? ids.spanId(span.parent.sequence) : (ids.parent?.spanId ?? null),
      entityType: "workflow",
      entityId: workflowId,
      executionId,
      name: span.path === null ? nameOfExecution(workflowId) : nameOfSpan(span.path),
      kind: "internal",
      startTime: isoTime(span.startAt),
      endTime: end === undefined ? null : isoTime(end.at),
      duration: end === undefined ? null : end.at - span.startAt,
      status: end?.status ?? "unset",
      ...(end?.error !== undefined && { message: end.error.message }),
      attributes: {
        ...(span.path === null
          ? rootAttributes(this.execution, this.status)
          : stepAttributes(this.execution, span)),
        ...(end?.error !== undefined && { "error.type": end.error.name }),
      },
      events: [...(span.events ?? [])],
    };
  }
}

function nameOfSpan(path: string): string {
  return path.includes("#") ? `checkpoint ${path}` : `step ${path}`;
}
