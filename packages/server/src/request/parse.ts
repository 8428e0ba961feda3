// Checks what a client sent against its shape, or says what is wrong with it.
import { describeIssues } from "@andante/core/internal";
import type { z } from "zod";
import { BadRequestError } from "../errors/request-errors.ts";

/** `what` names the place for the error, such as `query`. */
export function parse<Output>(schema: z.ZodType<Output>, value: unknown, what: string): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new BadRequestError({ problem: `Invalid request: ${describeIssues(result.error.issues, what)}` });
}
