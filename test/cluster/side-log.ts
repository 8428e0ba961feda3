// The side log: every run of a body, one line each, written as it starts by whichever node runs it.
//
// A plain append is enough: what a process has written is in the page cache and outlives its SIGKILL.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const lineSchema = z.object({
  executionId: z.string(),
  path: z.string(),
  attempt: z.int(),
  /** Names this run; what the body returns carries it, so an outcome says which run gave it. */
  run: z.string(),
  /** The run whose outcome it was given; null for the first step. */
  got: z.string().nullable(),
  pid: z.int(),
  at: z.number(),
});

export type BodyLine = z.infer<typeof lineSchema>;

export function appendBody(file: string, line: BodyLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

export function readBodies(file: string): BodyLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => lineSchema.parse(JSON.parse(text)));
}
