// A copy of the durable writes of one execution, read without the store.
import type { Store } from "../../src/store/store.ts";
import type { StoredEvent, WrittenEvent } from "../../src/store/stored-event.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const outcomes = new Set(["step-complete", "step-evaluated", "step-skipped", "step-error", "step-bailed"]);

export function isOutcome({ type }: Pick<StoredEvent, "type">): boolean {
  return outcomes.has(type);
}

/** Functions that may run one after the other without anything being written: more than any random workflow has. */
const maxEntriesWithoutEvent = 1000;

/** The place of the top-level step that a path belongs to; the last one for the witness. */
export function topLevelIndex(path: string): number {
  return Number(/^s(\d+)/.exec(path)?.[1] ?? Number.POSITIVE_INFINITY);
}

export class Mirror {
  readonly #ended = new Set<string>();
  /** Undefined where the journal holds the value already, and the start refers to it. */
  readonly #inputs = new Map<string, string | null | undefined>();
  /** Events before a rewind: a body whose start was committed before it may still begin. */
  readonly #leftBehind = new Set<string>();
  #entriesSinceEvent = 0;
  /** How often the execution went back. */
  #rewinds = 0;

  /** The same store; its confirmed writes are copied here. */
  watch(inner: Store): Store {
    return wrapStore(inner, {
      create: async (execution) => {
        const result = await inner.create(execution);
        if (result.created) this.#take(execution.events);
        return result;
      },
      commit: async (commit) => {
        const result = await inner.commit(commit);
        if (result.kind === "ok") this.#take([...commit.events, ...commit.following]);
        if (result.kind === "paused") this.#take(commit.events);
        return result;
      },
      resume: async (resume) => {
        const result = await inner.resume(resume);
        if (result.kind !== "refused") this.#take(result.events);
        return result;
      },
    });
  }

  /** Something of the execution runs; why it must not, when it runs again and again and nothing is written. */
  enter(): string | undefined {
    if (++this.#entriesSinceEvent !== maxEntriesWithoutEvent) return undefined;
    return `it was entered ${maxEntriesWithoutEvent} times without a new event`;
  }

  /** Why a body must not run now; undefined when it may. */
  objection(path: string, data: unknown): string | undefined {
    if (this.#ended.has(path)) return `${path} runs though its outcome is committed`;
    // The functions of a loop and of a branch stand beside a round; the start is the container's.
    const [place = ""] = path.split("#");
    if (this.#leftBehind.has(place) || this.#leftBehind.has(place.replace(/\[\d+\]$/, ""))) return undefined;
    if (!this.#inputs.has(place) && !this.#inputs.has(place.replace(/\[\d+\]$/, "")))
      return `${path} runs before its start is committed`;
    const input = this.#inputs.get(path);
    if (input !== undefined && input !== JSON.stringify(data)) {
      return `${path} runs with ${JSON.stringify(data)}, its start says ${input}`;
    }
    return undefined;
  }

  /**
   * How often the execution had gone back when the step of a path was started. A body may still run between the commit
   * that goes back and the moment in which the engine learns of it: it belongs to the time before.
   */
  rewindsOf(path: string): number {
    const [place = ""] = path.split("#");
    const isBefore = this.#leftBehind.has(place) && !this.#inputs.has(place);
    return isBefore ? this.#rewinds - 1 : this.#rewinds;
  }

  #take(events: readonly WrittenEvent[]): void {
    if (events.length > 0) this.#entriesSinceEvent = 0;
    for (const event of events) {
      if (event.path === null) continue;
      if (event.type === "execution-rewound") this.#rewind(event.stepIndex ?? 0);
      if (event.type === "step-start") {
        const { value } = event;
        this.#inputs.set(event.path, typeof value === "string" ? value : value && undefined);
      }
      if (isOutcome(event) || event.type === "checkpoint-complete") this.#ended.add(event.path);
    }
  }

  #rewind(stepIndex: number): void {
    this.#rewinds++;
    for (const paths of [this.#ended, this.#inputs])
      for (const path of paths.keys()) {
        if (topLevelIndex(path) < stepIndex) continue;
        paths.delete(path);
        this.#leftBehind.add(path);
      }
  }
}
