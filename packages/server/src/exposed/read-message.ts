// The body of a JSON-RPC message.
import { AndanteError } from "@andante/core";
import type { Context } from "hono";
import { type BodyBounds, readJsonBody } from "../request/request-body.ts";
import { jsonHeaders } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";

/** The parsed message, or the protocol's response to a body that is none. */
export async function readMessage(http: Context, bounds: BodyBounds, client: () => string): Promise<unknown> {
  try {
    const message = await readJsonBody(http.req, bounds, client);
    return message === undefined ? refusal(400, "The request needs a JSON body") : message;
  } catch (error) {
    if (!(error instanceof AndanteError) || error.status === 499) throw error;
    return refusal(error.status, error.message);
  }
}

export function refusal(
  status: number,
  message: string,
  code = status === 400 ? -32_700 : -32_000,
): RouteResponse {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null });
  return new RouteResponse(body, { status, headers: jsonHeaders });
}
