// One POST of an A2A client: a request of JSON-RPC, answered by a response or by a stream of responses.
import type { Exposed } from "../exposed/exposed.ts";
import type { InnerService } from "../exposed/inner-call.ts";
import { readMessage } from "../exposed/read-message.ts";
import { isObject } from "../is-object.ts";
import { originOf } from "../request/client.ts";
import { headerOf } from "../request/node-request.ts";
import { jsonHeaders } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import type { RouteContext } from "../route.ts";
import { eventResponse } from "../sse/event-response.ts";
import { placeOf } from "../sse/open-stream.ts";
import { A2aCall } from "./a2a-call.ts";
import { A2aError, errorOf } from "./a2a-errors.ts";
import type { CheckedA2aOptions } from "./a2a-options.ts";
import { protocolVersion } from "./agent-card.ts";
import { methods } from "./methods.ts";
import type { Update } from "./updates.ts";

type Id = string | number | null;

const streaming = new Set(["SendStreamingMessage", "SubscribeToTask"]);

export async function serveRequest(
  service: InnerService,
  options: CheckedA2aOptions,
  agent: Exposed,
  { http, caller, logger }: RouteContext,
): Promise<RouteResponse> {
  const client = () => service.bounds.clientOf(caller.userId, originOf(http));
  const request = await readMessage(http, service.bounds, client);
  if (request instanceof RouteResponse) return request;
  const id = isObject(request) && isId(request.id) ? request.id : null;
  let place: Awaited<ReturnType<typeof placeOf>>;
  try {
    const { method, params } = checkRequest(request);
    checkVersion(headerOf(http.req, "a2a-version") ?? http.req.query("A2A-Version") ?? "");
    const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handle === undefined) throw new A2aError("METHOD_NOT_FOUND", "Method not found");
    // Before anything is started.
    if (streaming.has(method))
      place = await placeOf(service, "stream", http, { client: client(), user: caller.user });
    const answer = await handle(new A2aCall({ service, options, agent, http, caller }), params);
    if ("result" in answer) return respond({ id, result: answer.result });
    const stream = place;
    place = undefined;
    return eventResponse(framed(answer.updates, id), { http, logger, stream });
  } catch (error) {
    return respond({ id, error: errorOf(error, logger) });
  } finally {
    place?.end();
  }
}

function checkRequest(request: unknown): { readonly method: string; readonly params: unknown } {
  const isRequest = isObject(request) && request.jsonrpc === "2.0" && isId(request.id);
  if (!isRequest || typeof request.method !== "string")
    throw new A2aError("INVALID_REQUEST", "Expected a request of JSON-RPC 2.0 with an id and a method");
  return { method: request.method, params: request.params };
}

function isId(id: unknown): id is Id {
  return typeof id === "number" || (typeof id === "string" && id.length <= 1000) || id === null;
}

function checkVersion(given: string): void {
  if (given === protocolVersion) return;
  // Clients of 0.3 send no version.
  const named = given === "" ? "0.3" : given.slice(0, 20);
  throw new A2aError(
    "VERSION_NOT_SUPPORTED",
    `A2A-Version ${named} is not supported: use ${protocolVersion}`,
  );
}

function respond(fields: object): RouteResponse {
  return new RouteResponse(JSON.stringify({ jsonrpc: "2.0", ...fields }), { headers: jsonHeaders });
}

/** Each update as a response to the request. */
async function* framed(
  updates: AsyncGenerator<Update, undefined>,
  id: Id,
): AsyncGenerator<object, undefined> {
  for await (const result of updates) yield { jsonrpc: "2.0", id, result };
}
