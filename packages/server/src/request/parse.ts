// Checks what a client sent against its shape, or says what is wrong with it.
import type { z } from "zod";
import { BadRequestError } from "../errors/request-errors.ts";

/** `what` names the place for the error, such as `query`. */
export function parse<Output>(schema: z.ZodType<Output>, value: unknown, what: string): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `${[what, ...issue.path].join(".")}: ${issue.message}`);
  throw new BadRequestError({ problem: `Invalid request: ${issues.join("; ")}` });
}
