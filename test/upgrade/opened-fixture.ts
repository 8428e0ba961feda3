// A fixture opened with today's code: a copy of its database, and a note of every function that runs from then on.
import { copyFileSync, existsSync } from "node:fs";
import path from "node:path";
import { type Andante, createAndante, createLogger, sqliteStore } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { expect } from "vitest";
import { define, defineChanged } from "./definitions.ts";
import type { Action, FoundFixture } from "./fixture.ts";
import type { World } from "./world.ts";

/** Logs and traces of fixtures are as old as their release: the default of a week would remove them. */
const century = 100 * 365 * 24 * 60 * 60 * 1000;

let copies = 0;

/** A copy of the database, with the write-ahead log that belongs to it. */
export function copyOf({ name, database }: FoundFixture, folder: string): string {
  const copy = path.join(folder, `${++copies}-${name}.db`);
  copyFileSync(database, copy);
  if (existsSync(`${database}-wal`)) copyFileSync(`${database}-wal`, `${copy}-wal`);
  return copy;
}

/** As it is written in a fixture: without what is undefined. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

export class OpenedFixture {
  readonly andante: Andante;
  /** What models were asked and tools did. */
  readonly asked: string[] = [];
  readonly #found: FoundFixture;
  readonly #clock: TestClock | undefined;
  readonly #ran = new Map<string, string[]>();

  constructor(found: FoundFixture, database: string, definitions: "today" | "changed" = "today") {
    const { clock } = found.fixture;
    this.#found = found;
    this.#clock = clock === null ? undefined : new TestClock({ start: new Date(clock), skipSleeps: false });
    const world: World = {
      enter: async ({ executionId, stepPath }) => {
        this.#ran.set(executionId, [...this.ran(executionId), stepPath]);
      },
      asked: async (question) => {
        this.asked.push(question);
      },
    };
    this.andante = createAndante({
      ...(definitions === "changed" ? defineChanged(world) : define(world)),
      store: sqliteStore({ path: database }),
      logger: createLogger({ level: "silent" }),
      logs: { maxAge: century },
      tracing: { maxAge: century },
      ...(this.#clock && { clock: this.#clock }),
    });
  }

  /** The paths that have run in this execution since it was opened. */
  ran(executionId: string): readonly string[] {
    return this.#ran.get(executionId) ?? [];
  }

  /** The recorded executions to which nothing happens by itself. */
  settled() {
    const { finish, executions } = this.#found.fixture;
    const moving = new Set(finish.map((action) => (action.do === "end" ? action.executionId : undefined)));
    return executions.filter(({ executionId }) => !moving.has(executionId));
  }

  async perform(action: Action): Promise<void> {
    const { andante } = this;
    if (action.do === "advance") {
      this.#clock?.advanceTo(new Date(action.to));
      return;
    }
    const { executionId, expected } = action;
    const workflowId = this.#recorded(executionId).workflowId;
    if (action.do === "resume") {
      const { data, stepId } = action;
      expect(await andante.resume(workflowId, executionId, data, { stepId })).toMatchObject(expected);
    } else if (action.do === "end") {
      await this.#end(workflowId, executionId);
      expect(await andante.state(workflowId, executionId)).toMatchObject(expected);
    } else {
      const replay = await andante.replay(workflowId, executionId, { stepId: action.stepId });
      expect(await andante.state(workflowId, replay.executionId)).toMatchObject(expected);
    }
  }

  /** Follows it to its end, from where the fixture ends. */
  async #end(workflowId: string, executionId: string): Promise<void> {
    const { events } = this.#recorded(executionId);
    const stream = await this.andante.attach(workflowId, executionId, events.length);
    if (stream === undefined) throw new Error(`${executionId} had ended when the fixture was made`);
    let last: string | undefined;
    for await (const event of stream.events) last = event.type;
    expect(last).toBe("workflow-result");
  }

  #recorded(executionId: string) {
    const recorded = this.#found.fixture.executions.find((each) => each.executionId === executionId);
    if (recorded === undefined) throw new Error(`the fixture holds no execution ${executionId}`);
    return recorded;
  }
}
