// What is durably written of one execution, known without asking the store.
import type { Store } from "../../src/store/store.ts";
import type { StoredEvent, WrittenEvent } from "../../src/store/stored-event.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const outcomes = new Set(["step-complete", "step-evaluated", "step-skipped", "step-error", "step-bailed"]);

export function isOutcome({ type }: Pick<StoredEvent, "type">): boolean {
  return outcomes.has(type);
}

export class Mirror {
  readonly #ended = new Set<string>();
  /** Undefined where the journal holds the value already, and the start refers to it. */
  readonly #inputs = new Map<string, string | null | undefined>();

  /** The same store; what it confirms is seen here. */
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
    });
  }

  /** Why a body must not run now; undefined when it may. */
  objection(path: string, data: unknown): string | undefined {
    if (this.#ended.has(path)) return `${path} runs though its outcome is committed`;
    // The functions of a loop and of a branch stand beside a round; the start is the container's.
    const [place = ""] = path.split("#");
    if (!this.#inputs.has(place) && !this.#inputs.has(place.replace(/\[\d+\]$/, "")))
      return `${path} runs before its start is committed`;
    const input = this.#inputs.get(path);
    if (input !== undefined && input !== JSON.stringify(data)) {
      return `${path} runs with ${JSON.stringify(data)}, its start says ${input}`;
    }
    return undefined;
  }

  #take(events: readonly WrittenEvent[]): void {
    for (const event of events) {
      if (event.path === null) continue;
      if (event.type === "step-start") {
        const { value } = event;
        this.#inputs.set(event.path, typeof value === "string" ? value : value && undefined);
      }
      if (isOutcome(event)) this.#ended.add(event.path);
    }
  }
}
