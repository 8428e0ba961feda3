// Instructions of the parent for a child process: its executions, and how this life of the process ends.
import { z } from "zod";

const phase = z.enum(["before", "during", "after"]);

/** How a life ends. Numbers count from 1 within the life. */
export const killSchema = z.discriminatedUnion("kind", [
  /** It is not killed: it ends when its executions have ended. */
  z.object({ kind: z.literal("none") }),
  /** Around the n-th write to a journal: before it is sent, while it is under way, after its answer. */
  z.object({ kind: z.literal("write"), number: z.int().min(1), phase }),
  /** Around the claim of the executions that the previous life left. */
  z.object({ kind: z.literal("claim"), phase }),
  /** At the n-th moment inside bodies. */
  z.object({ kind: z.literal("body"), number: z.int().min(1) }),
  /** By the parent, this long after the process was started, began to open its store, or had recovered its executions. */
  z.object({
    kind: z.literal("outside"),
    since: z.enum(["spawn", "opening", "ready"]),
    milliseconds: z.number().min(0),
  }),
  /** Sabotage, to prove the checks: the n-th write is answered but never made, and the next one kills. */
  z.object({ kind: z.literal("lie"), number: z.int().min(1) }),
]);

export type Kill = z.infer<typeof killSchema>;

/**
 * How the world outside treats suspensions: `eager` answers as soon as one is open, `patient` when the execution rests,
 * one at a time; `away` answers nothing.
 */
export const worldSchema = z.enum(["eager", "patient", "away"]);

export type WorldMood = z.infer<typeof worldSchema>;

export const instructionsSchema = z.object({
  /** The database file. */
  database: z.string(),
  /** The side log. */
  log: z.string(),
  life: z.int(),
  seed: z.int(),
  world: worldSchema,
  kill: killSchema,
  executions: z.array(
    z.object({
      executionId: z.string(),
      scenario: z.string(),
      /** An earlier life has created it: it must be there, and goes on without a start. */
      exists: z.boolean(),
      /** An earlier life has reported the start to its caller. */
      acknowledged: z.boolean(),
      /** The last event that a stream has shown in earlier lives. */
      after: z.int(),
    }),
  ),
});

export type Instructions = z.infer<typeof instructionsSchema>;
export type ExecutionInstructions = Instructions["executions"][number];

/** Messages of a child to its parent. */
export const reportSchema = z.discriminatedUnion("kind", [
  /** The store is about to be opened, and abandoned executions to be recovered. */
  z.object({ kind: z.literal("opening") }),
  /** The store is open and abandoned executions are recovered. */
  z.object({ kind: z.literal("ready") }),
  /** All executions have ended: how many writes were made for each, and how many moments inside its bodies passed. */
  z.object({
    kind: z.literal("done"),
    counts: z.record(z.string(), z.object({ writes: z.int(), moments: z.int() })),
  }),
  /** Something in the child itself went wrong. */
  z.object({ kind: z.literal("failed"), message: z.string() }),
]);

export type Counts = Extract<Report, { kind: "done" }>["counts"];
export type Report = z.infer<typeof reportSchema>;
