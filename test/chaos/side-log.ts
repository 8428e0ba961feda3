// The side log: observations of bodies, streams and callers, one line each, written as they happen.
//
// A plain append is enough: written bytes are in the page cache and outlive the SIGKILL of their process.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const common = { life: z.int(), executionId: z.string() };

const lineSchema = z.discriminatedUnion("kind", [
  /** A body starts, with its input. */
  z.object({
    kind: z.literal("start"),
    ...common,
    path: z.string(),
    data: z.unknown().optional(),
    resumeData: z.unknown().optional(),
    suspendData: z.unknown().optional(),
    /** Undefined where a body has no way to know it: an agent. */
    context: z.record(z.string(), z.unknown()).optional(),
  }),
  /** A body returned. */
  z.object({ kind: z.literal("end"), ...common, path: z.string(), output: z.unknown().optional() }),
  /** A body threw: an error, or because it suspends. */
  z.object({ kind: z.literal("thrown"), ...common, path: z.string(), message: z.string() }),
  /** A stream showed an event. */
  z.object({
    kind: z.literal("event"),
    ...common,
    event: z.looseObject({ type: z.string(), timestamp: z.string(), sequence: z.int().optional() }),
  }),
  /** A call was acknowledged: from now on its effect must not be lost. */
  z.object({
    kind: z.literal("acknowledged"),
    ...common,
    call: z.enum(["start", "resume", "pause", "cancel"]),
    suspensionId: z.string().optional(),
  }),
]);

export type Line = z.infer<typeof lineSchema>;
export type StartLine = Extract<Line, { kind: "start" }>;
export type EventLine = Extract<Line, { kind: "event" }>;

/** Marks the end of a whole line. JSON never holds it unescaped. */
const end = "\t";

/** The line break comes first: the line before it may have been cut off by a kill. */
export function appendLine(file: string, line: Line): void {
  appendFileSync(file, `\n${JSON.stringify(line)}${end}`);
}

/** All whole lines so far; one without its end was cut off by a kill. */
export function readLines(file: string): Line[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((text) => text.endsWith(end)).map((text) => lineSchema.parse(JSON.parse(text)));
}
