// A situation: how a database gets into it, and how it is finished from there.
import type { Fixture } from "./fixture.ts";
import type { Stage } from "./stage.ts";

/** One process that works on the database. */
export interface Life {
  /** `kill`: SIGKILL as soon as `act` is done, or earlier where `act` asks for it. */
  readonly end: "close" | "kill";
  /** True runs the changed definitions. */
  readonly changed?: boolean;
  act(stage: Stage): Promise<unknown>;
}

export interface Situation extends Pick<Fixture, "clock" | "finish" | "runs"> {
  readonly asks?: Fixture["asks"];
  /** One after the other on the same file. */
  readonly lives: readonly Life[];
  /** True keeps the write-ahead log as the killed process left it; else it is merged into the file. */
  readonly keepsLog?: boolean;
  /** True records conversations, logs and traces too: nothing may be under way. */
  readonly observed?: boolean;
  /** The executions whose journal is recorded. Default: all. */
  readonly recorded?: readonly string[];
}

/** When every fixture begins. The clock of a life starts here and moves on by a second with each function that runs. */
export const beginning = new Date("2026-01-05T09:00:00.000Z");

/** A life that only opens and closes: what a later one leaves in its write-ahead log is then its own. */
export const firstOpening: Life = { end: "close", act: async () => undefined };
