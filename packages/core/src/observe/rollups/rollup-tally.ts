// Counts committed events in memory, by minute, workflow and step, until the writer takes the counts.
//
// It is called for every commit: an event costs a few lookups and an addition, and memory grows with the
// definitions and not with the events.
import type { JournalEvent } from "../../journal/events.ts";
import type { RollupCount, RollupKind } from "../../store/rollup-store.ts";
import { containersOf, stepPathOf } from "../../values/step-path.ts";
import { bucketOf, noDuration } from "./duration-buckets.ts";

/** An execution whose events are counted. */
export interface CountedExecution {
  readonly workflowId: string;
  /** 0 where it is not known. */
  readonly startAt: number;
  /** When the steps started that run now; made with the first of them. */
  stepStarts?: Map<string, number>;
}

/** Counts by range of durations, of each kind. */
type Counter = Partial<Record<RollupKind, Map<number, number>>>;
type Steps = Map<string, Counter>;

/** Steps and minutes that are counted at once: only a store that is in trouble for hours lets them become as many. */
const maxCounters = 20_000;
const minute = 60_000;
const none = { minute: Number.NaN, workflowId: "", steps: new Map() };

export class RollupTally {
  /** By minute, workflow and step. */
  #minutes = new Map<number, Map<string, Steps>>();
  /** The steps that were counted last: those of the next event are often the same. */
  #last: { minute: number; workflowId: string; steps: Steps } = none;
  #counters = 0;
  #lost = 0;

  get isEmpty(): boolean {
    return this.#counters === 0;
  }

  /** How many events were not counted because there was no room. */
  get lost(): number {
    return this.#lost;
  }

  receive(execution: CountedExecution, events: readonly JournalEvent[]): void {
    for (const event of events) this.#receive(execution, event);
  }

  /** An execution has the answer to a question that it asked `waited` milliseconds before. */
  answered(workflowId: string, timestamp: number, waited: number): void {
    this.#count(timestamp, workflowId, "", "answered", bucketOf(waited));
  }

  /** Everything that was counted; from now on it counts from 0. */
  take(): RollupCount[] {
    const counts: RollupCount[] = [];
    for (const [at, workflows] of this.#minutes)
      for (const [workflowId, steps] of workflows)
        for (const [step, counter] of steps)
          for (const [kind, buckets] of kindsOf(counter))
            for (const [bucket, count] of buckets)
              counts.push({ minute: at, workflowId, step, kind, bucket, count });
    this.#minutes = new Map();
    this.#last = none;
    this.#counters = 0;
    return counts;
  }

  #receive(execution: CountedExecution, event: JournalEvent): void {
    const { timestamp } = event;
    switch (event.type) {
      case "workflow-start":
        return this.#count(timestamp, execution.workflowId, "", "started", noDuration);
      case "workflow-suspended":
        return this.#count(timestamp, execution.workflowId, "", "suspended", noDuration);
      case "workflow-complete": {
        const { startAt } = execution;
        const bucket = startAt > 0 ? bucketOf(timestamp - startAt) : noDuration;
        return this.#count(timestamp, execution.workflowId, "", "completed", bucket);
      }
      case "workflow-error":
        return this.#count(timestamp, execution.workflowId, "", "failed", noDuration);
      case "workflow-cancelled":
        return this.#count(timestamp, execution.workflowId, "", "cancelled", noDuration);
      case "step-start":
        execution.stepStarts ??= new Map();
        execution.stepStarts.set(event.path, timestamp);
        return;
      case "step-complete":
      case "step-bailed": {
        const startAt = execution.stepStarts?.get(event.path);
        execution.stepStarts?.delete(event.path);
        const bucket = startAt === undefined ? noDuration : bucketOf(timestamp - startAt);
        this.#count(timestamp, execution.workflowId, event.path, "completed", bucket);
        const { totalTokens = 0 } = (event.type === "step-complete" && event.usage) || {};
        if (totalTokens > 0)
          this.#count(timestamp, execution.workflowId, event.path, "tokens", noDuration, totalTokens);
        return;
      }
      case "step-error":
        execution.stepStarts?.delete(event.path);
        return this.#count(timestamp, execution.workflowId, event.path, "failed", noDuration);
      case "step-retry":
        return this.#count(timestamp, execution.workflowId, event.path, "retried", noDuration);
      case "step-suspended":
        return forget(execution, event.path);
      case "step-skipped":
        execution.stepStarts?.delete(event.path);
        return;
      default:
        return;
    }
  }

  #count(
    timestamp: number,
    workflowId: string,
    path: string,
    kind: RollupKind,
    bucket: number,
    by = 1,
  ): void {
    const counter = this.#counterOf(Math.floor(timestamp / minute), workflowId, path);
    if (counter === undefined) {
      this.#lost += 1;
      return;
    }
    let buckets = counter[kind];
    if (buckets === undefined) {
      buckets = new Map();
      counter[kind] = buckets;
    }
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + by);
  }

  #counterOf(at: number, workflowId: string, path: string): Counter | undefined {
    const step = path.includes("[") ? stepPathOf(path) : path;
    const last = this.#last;
    if (last.minute === at && last.workflowId === workflowId) {
      const known = last.steps.get(step);
      if (known !== undefined) return known;
    }
    let workflows = this.#minutes.get(at);
    let steps = workflows?.get(workflowId);
    if (steps !== undefined) this.#last = { minute: at, workflowId, steps };
    const known = steps?.get(step);
    if (known !== undefined) return known;
    if (this.#counters >= maxCounters) return undefined;
    if (workflows === undefined) {
      workflows = new Map();
      this.#minutes.set(at, workflows);
    }
    if (steps === undefined) {
      steps = new Map();
      workflows.set(workflowId, steps);
    }
    const counter: Counter = {};
    steps.set(step, counter);
    this.#counters += 1;
    return counter;
  }
}

/** How long a person took is not how long a step takes, nor those around it. */
function forget({ stepStarts }: CountedExecution, path: string): void {
  if (stepStarts === undefined) return;
  stepStarts.delete(path);
  for (const container of containersOf(path)) stepStarts.delete(container);
}

function kindsOf(counter: Counter): [RollupKind, Map<number, number>][] {
  const kinds: RollupKind[] = [
    "started",
    "completed",
    "failed",
    "suspended",
    "cancelled",
    "retried",
    "tokens",
    "answered",
  ];
  return kinds.flatMap((kind): [RollupKind, Map<number, number>][] => {
    const buckets = counter[kind];
    return buckets === undefined ? [] : [[kind, buckets]];
  });
}
