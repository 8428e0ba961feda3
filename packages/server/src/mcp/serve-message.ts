// One POST to /mcp: a message of an MCP client of either generation, handled by a server of the official SDK of its own.
import type { Context } from "hono";
import { z } from "zod";
import type { InnerService } from "../exposed/inner-call.ts";
import { readMessage, refusal } from "../exposed/read-message.ts";
import { isObject } from "../is-object.ts";
import { originOf } from "../request/client.ts";
import { headerOf } from "../request/node-request.ts";
import { FinishedResponse, RouteResponse } from "../response/route-response.ts";
import type { RouteContext } from "../route.ts";
import { placeOf } from "../sse/open-stream.ts";
import type { OpenStream } from "../sse/open-streams.ts";
import { version } from "../version.ts";
import { McpCall, tasksExtension } from "./call.ts";
import type { CheckedMcpOptions } from "./mcp-options.ts";
import { listResources, listTemplates, readResource } from "./resources.ts";
import { protocolError, type Result } from "./results.ts";
import { loadSdk } from "./sdk.ts";
import { handleTask, taskMethods } from "./tasks.ts";
import { callTool, listTools } from "./tools.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Messages of one request: a batch starts all of them at once. */
const maxBatch = 50;

type Connected = ConstructorParameters<typeof McpCall>[0];

export async function serveMessage(
  service: InnerService,
  options: CheckedMcpOptions,
  { http, caller, logger }: RouteContext,
): Promise<RouteResponse> {
  const sdk = await loadSdk();
  const { bounds } = service;
  const client = () => bounds.clientOf(caller.userId, originOf(http));
  const message = http.req.method === "POST" ? await readMessage(http, bounds, client) : undefined;
  if (message instanceof RouteResponse) return message;
  if (Array.isArray(message) && message.length > maxBatch)
    return refusal(400, `A batch has at most ${maxBatch} messages`, -32_600);
  const messages: readonly unknown[] = Array.isArray(message) ? message : [message];
  const place = messages.some(isFollowed)
    ? await placeOf(service, "stream", http, { client: client(), user: caller.user })
    : undefined;
  const from: Connected = { sdk, service, options, http, caller };
  const method = isObject(message) ? message.method : undefined;
  const named = Array.isArray(message) ? undefined : typeof method === "string" ? method : "";
  const handler = sdk.createMcpHandler(({ era }) => serverFor(from, era, named), {
    onerror: (err) => logger.debug({ err }, "a message of MCP was refused"),
  });
  let isOpen = false;
  try {
    const signal = place === undefined ? unheard : http.req.raw.signal;
    const response = await handler.fetch(lightRequest(http, signal), { parsedBody: message });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream && named === "tools/call") return new FinishedResponse(response);
    const { status, body } = response;
    const headers = Object.fromEntries(response.headers);
    if (!isStream)
      return new RouteResponse(body === null ? null : await response.text(), { status, headers });
    isOpen = true;
    return new RouteResponse(body && heldBy(place, body), { status, headers });
  } finally {
    if (!isOpen) place?.end();
  }
}

/** The signal of a call without a stream: an execution continues without its caller. */
const unheard = new AbortController().signal;

/**
 * The request as the SDK reads it: its method, its headers and a signal. The listener makes those of its own request on their
 * first use, with a copy of all headers and a stream of the body, which takes as long as the rest of a message.
 */
function lightRequest({ req }: Context, signal: AbortSignal): Request {
  const headers = { get: (name: string) => headerOf(req, name.toLowerCase()) ?? null };
  const { method, url } = req;
  const fields = { method, url, headers, signal };
  return Object.create(Request.prototype, Object.getOwnPropertyDescriptors(fields));
}

/** Whether the response to a message is a stream that goes on while the message is handled. */
function isFollowed(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { method, params } = message;
  const hasProgress = isObject(params) && isObject(params._meta) && params._meta.progressToken !== undefined;
  return method === "subscriptions/listen" || hasProgress;
}

/** A stream that frees its place at its end. */
function heldBy(place: OpenStream | undefined, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (place === undefined) return body;
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        place.waits(0);
        const { done, value } = await reader.read();
        if (done) {
          place.end();
          return controller.close();
        }
        place.waits(value.byteLength);
        controller.enqueue(value);
      },
      cancel(reason) {
        place.end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

const handlers: Readonly<Record<string, (call: McpCall, params: Fields) => Promise<Result> | Result>> = {
  "tools/list": listTools,
  "tools/call": callTool,
  "resources/list": listResources,
  "resources/templates/list": listTemplates,
  "resources/read": readResource,
};
/** Parameters are checked where they are read. */
const anyParams = z.unknown().transform((params): Fields => (isObject(params) ? params : {}));
/** The server asks clients nothing over the connection. */
const noValidator = {
  getValidator: (): never => {
    throw new TypeError("no answers of clients are validated here");
  },
};

/** A server for one POST. `method` is undefined for a batch, which clients before 2025-06 may send. */
function serverFor(from: Connected, era: "legacy" | "modern", method: string | undefined) {
  const { sdk, service } = from;
  const { Server, ProtocolError, ProtocolErrorCode } = sdk;
  const extensions = era === "modern" ? { extensions: { [tasksExtension]: {} } } : {};
  const capabilities = { tools: {}, resources: {}, ...extensions };
  const server = new Server({ name: "andante", version }, { capabilities, jsonSchemaValidator: noValidator });
  const perform = async (run: () => Promise<Result> | Result) => {
    try {
      return await run();
    } catch (error) {
      throw protocolError(error, sdk, service.logger);
    }
  };
  const task = taskMethods.find((each) => each === method);
  if (era === "modern" && task !== undefined)
    server.setRequestHandler(task, { params: anyParams }, (params, context) =>
      perform(() => handleTask(new McpCall(from, context), task, params)),
    );
  // Not one handler for each method: the SDK would validate each message twice more.
  if (method === undefined || Object.hasOwn(handlers, method))
    server.fallbackRequestHandler = (request, context) =>
      perform(() => {
        const handler = Object.hasOwn(handlers, request.method) ? handlers[request.method] : undefined;
        if (handler === undefined)
          throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
        return handler(new McpCall(from, context), request.params ?? {});
      });
  return server;
}
