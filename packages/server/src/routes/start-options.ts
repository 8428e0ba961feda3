// The input and the options of a request that starts an execution or calls an agent.
import { InputValidationError } from "@andante/core/errors";
import { activeTraceparent } from "@andante/core/internal";
import { type StarterOptions, startOptionsOf } from "../auth/inject-user.ts";
import { headerOf } from "../request/node-request.ts";
import { traceparentHeader } from "../response/envelope.ts";
import type { RouteContext } from "../route.ts";

/** The permitted options, with the caller's place in its trace. */
export function startOptions<Options extends StarterOptions>(
  { caller, gate, http }: RouteContext,
  options: Options,
) {
  // An instrumentation of the host has made a span of the request, below the caller's.
  const traceparent = activeTraceparent() ?? headerOf(http.req, traceparentHeader);
  return { ...startOptionsOf(options, caller, gate.enabled), traceparent };
}

/** The input. A missing input is an error; null is checked by the schema of the workflow or agent. */
export function givenInput({ input }: { input?: unknown }): unknown {
  if (input === undefined) throw new InputValidationError({ detail: "input: required" });
  return input;
}
