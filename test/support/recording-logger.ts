// A real logger whose lines a test can read.
import { createLogger, type Logger } from "@andante/core";
import { z } from "zod";
import type { Fields } from "./responses.ts";

const fields = z.record(z.string(), z.unknown());

/** The logger, and its lines from the first to the latest. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: readonly Fields[] } {
  const lines: Fields[] = [];
  const write = (line: string) => lines.push(fields.parse(JSON.parse(line)));
  return { logger: createLogger({ level: "debug", format: "json", destination: { write } }), lines };
}
