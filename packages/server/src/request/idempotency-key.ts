// The header `Idempotency-Key`: another name of `options.executionId`.
import type { HonoRequest } from "hono";
import { BadRequestError } from "../errors/request-errors.ts";
import { isObject } from "../is-object.ts";
import { headerOf } from "./node-request.ts";

/** The body with the key of the header as its execution id. The key may be in quotation marks, as structured fields are. */
export function withIdempotencyKey(body: unknown, request: HonoRequest): unknown {
  const header = headerOf(request, "idempotency-key");
  if (header === undefined || !isObject(body)) return body;
  const executionId = /^"(.*)"$/.exec(header)?.[1] ?? header;
  const options = isObject(body.options) ? body.options : {};
  if (options.executionId !== undefined && options.executionId !== executionId)
    throw new BadRequestError({
      problem: "Invalid request: Idempotency-Key: differs from options.executionId",
    });
  return { ...body, options: { ...options, executionId } };
}
