// Parses a client's data with its schema, or throws with a description of the problem.
import { describeIssues } from "@andante/core/internal";
import type { z } from "zod";
import { BadRequestError } from "../errors/request-errors.ts";

/** The last parameter is the place for the error message, such as `query`. */
export function parse<Output>(schema: z.ZodType<Output>, value: unknown, what: string): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new BadRequestError({ problem: `Invalid request: ${describeIssues(result.error.issues, what)}` });
}
