// What a life of a situation works with: a real Andante on a real file, whose functions can be held up or be the end of it.
import { appendFileSync } from "node:fs";
import { type Andante, createAndante, createLogger, type ExecutionEvent, sqliteStore } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { define, defineChanged } from "./definitions.ts";
import { beginning } from "./situation.ts";
import type { Place, World } from "./world.ts";

/** A function that waits to be let go. */
export interface Hold {
  /** Resolves when it has begun. */
  readonly reached: Promise<void>;
  release(): void;
}

export interface StageOptions {
  readonly database: string;
  /** Where every function that begins is written down. */
  readonly log: string;
  readonly changed: boolean;
}

export class Stage {
  readonly andante: Andante;
  readonly #clock = new TestClock({ start: beginning, skipSleeps: false });
  readonly #holds = new Map<string, { reached: () => void; released: Promise<void> }>();
  readonly #deaths = new Set<string>();

  constructor({ database, log, changed }: StageOptions) {
    const world: World = {
      enter: (place) => {
        const name = nameOf(place);
        if (this.#deaths.has(name)) die();
        appendFileSync(log, `${JSON.stringify({ executionId: place.executionId, path: place.stepPath })}\n`);
        this.#clock.advance(1000);
        return this.#pass(name);
      },
      asked: (question) => this.#pass(question),
    };
    this.andante = createAndante({
      ...(changed ? defineChanged(world) : define(world)),
      store: sqliteStore({ path: database }),
      clock: this.#clock,
      logger: createLogger({ level: "silent" }),
    });
  }

  /** Holds up the function at this path. */
  hold(executionId: string, stepPath: string): Hold {
    return this.#hold(nameOf({ executionId, stepPath }));
  }

  /** Holds up the model that is asked this. */
  holdModel(question: string): Hold {
    return this.#hold(question);
  }

  /** Ends the process when this function is about to begin; never resolves. */
  dieBefore(executionId: string, stepPath: string): Promise<never> {
    this.#deaths.add(nameOf({ executionId, stepPath }));
    return new Promise(() => undefined);
  }

  /** Waits for an event of an execution, also one that has been. */
  async until(workflowId: string, executionId: string, wanted: Partial<ExecutionEvent>): Promise<void> {
    const stream = await this.andante.attach(workflowId, executionId);
    if (stream === undefined) throw new Error(`${executionId} has no events`);
    for await (const event of stream.events) {
      if (Object.entries(wanted).every(([field, value]) => event[field] === value)) return;
    }
    throw new Error(`${executionId} ended without ${JSON.stringify(wanted)}`);
  }

  #hold(name: string): Hold {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#holds.set(name, { reached: reached.resolve, released: released.promise });
    return { reached: reached.promise, release: released.resolve };
  }

  async #pass(name: string): Promise<void> {
    const hold = this.#holds.get(name);
    hold?.reached();
    await hold?.released;
  }
}

function nameOf({ executionId, stepPath }: Place): string {
  return `${executionId} ${stepPath}`;
}

/** Ends this process as `kill -9` does. Nothing runs after it, not even for the moment until the signal arrives. */
export function die(): never {
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error("SIGKILL did not end this process");
}
