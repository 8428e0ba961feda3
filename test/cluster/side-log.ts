// The side log: every run of a body, one line each, written as it starts by whichever node runs it.
//
// A plain append is enough: written bytes are in the page cache and outlive the SIGKILL of their process.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const lineSchema = z.object({
  executionId: z.string(),
  path: z.string(),
  attempt: z.int(),
  /** Names this run; the body returns it, so that an outcome identifies its run. */
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
