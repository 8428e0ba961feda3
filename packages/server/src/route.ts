// A row of the route table: everything that the router, the checks and the API description need of an endpoint.
import type { Andante, Logger } from "@andante/core";
import type { Context } from "hono";
import type { z } from "zod";
import type { Authorize, Reveals, Scope } from "./auth/authorize.ts";
import type { Access, Caller, Gate } from "./auth/gate.ts";
import type { Ids, Permission } from "./auth/permission.ts";
import type { View } from "./auth/view.ts";
import type { Cors } from "./cors/cors.ts";
import type { Receivers } from "./receivers/receiver.ts";
import type { Reads } from "./request/reads.ts";
import type { CachedReads } from "./response/cached-reads.ts";
import type { BuiltResponses } from "./response/static-response.ts";
import type { Shape } from "./schemas/component.ts";
import type { Cost } from "./sse/open-stream.ts";
import type { OpenStream } from "./sse/open-streams.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The argument of a handler. */
export interface RouteContext<Body = unknown, Query = unknown> {
  readonly andante: Andante;
  readonly logger: Logger;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The request itself, for headers and the like. */
  readonly http: Context;
  readonly caller: Caller;
  readonly gate: Gate;
  readonly cors: Cors;
  readonly authorize: Authorize | undefined;
  /** The webhooks that become events. */
  readonly receivers: Receivers;
  /** The prefix of every path of this service: "/ai", or "". */
  readonly basePath: string;
  /** How much a list may show. */
  readonly scope: Scope;
  /** Decides about the entries of a list. */
  readonly permission: Permission;
  /** The caller's view of log lines and spans. */
  readonly view: View;
  /** Whether the console is served. */
  readonly hasConsole: boolean;
  /** Whether clients of MCP are served. */
  readonly hasMcp: boolean;
  /** Whether a custom route replaces this one. */
  isReplaced(row: Route): boolean;
  /** Whether responses may be compressed. */
  readonly compression: boolean;
  readonly built: BuiltResponses;
  readonly cachedReads: CachedReads;
  /** The queue for the next pages of exports. */
  readonly bounds: { readonly exportPages: Reads };
  /** The place of an open event stream or export. */
  readonly stream?: OpenStream | undefined;
}

/** The name of an id in calls of `authorize`. */
export type ResourceId =
  | "workflowId"
  | "agentId"
  | "executionId"
  | "conversationId"
  | "userId"
  | "scheduleId"
  | "endpointId"
  | "deliveryId"
  | "eventName"
  | "traceId"
  | "entityType"
  | "entityId"
  | "file";

type Known<Body, Query> = Pick<RouteContext<Body, Query>, "andante" | "params" | "query" | "body">;

export interface Route<Body = unknown, Query = unknown> {
  readonly method: Method;
  /** With `:name` for parameters. */
  readonly path: string;
  /** Part of the contract, so a custom route cannot replace it. Default: it is not, and a custom route can. */
  readonly contract?: true;
  readonly access: Access;
  /** The action for the host's `authorize`, such as `workflows.execute`. */
  readonly action: string;
  /** Actions that must be allowed too, because this one shows or does the same in another way. Default: none. */
  readonly requires?: readonly string[];
  /** The same for a resource that has this id. Default: none. */
  readonly requiresWith?: Readonly<Partial<Record<ResourceId, string>>>;
  /** With authentication only an `authorize` that returns true permits it. Default: every admitted caller may. */
  readonly explicit?: true;
  /** The ids that `authorize` may receive in `resource`; each is read from the path or the query, if present. */
  readonly resource: readonly ResourceId[];
  /** The ids from the body or the store. `authorize` is called again with each. */
  ids?(known: Known<Body, Query>): readonly Ids[] | Promise<readonly Ids[]>;
  /** The users whose data it shows or changes without the host's `authorize`. Default: its data has no owner. */
  readonly reveals?: Reveals;
  /**
   * The limit that it counts against: a `read` waits for its client's turn, an `export` holds a place until its end.
   * Default: none, except that events hold a place among the streams.
   */
  readonly costs?: "read" | "export";
  /** Its name in the API description, from which generators derive function names. */
  readonly operationId: string;
  /** One line for the API description. */
  readonly summary: string;
  /** Its group in the API description. */
  readonly tag: string;
  readonly query?: Shape<z.ZodType<Query> & { readonly shape: object }>;
  /** The headers it reads, besides authentication and content type. */
  readonly headers?: readonly RequestHeader[];
  /** The body's shape. */
  readonly body?: Shape<z.ZodType<Body>>;
  /** The body as bytes, in place of one with a shape: at most this many. */
  readonly raw?: { readonly limit: number; readonly contentType: string };
  /** The route accepts a request without a body as `{}`. Default: false, a missing body is 400. */
  readonly bodyOptional?: boolean;
  /** The successful response. */
  readonly response: ResponseDescription;
  /** Error statuses besides those of every route. */
  readonly errors: readonly number[];
  /** The header `WWW-Authenticate` of its 401. Default: `Bearer`. */
  challenge?(http: Context): string;
  /** Runs before the body is read: an unknown resource is a 404 even with an invalid body. */
  check?(andante: Andante, params: Readonly<Record<string, string>>): void;
  /** Returns the payload of the envelope, or a RouteResponse. */
  handle(context: RouteContext<Body, Query>): unknown;
}

export type RequestHeader = "if-match" | "prefer" | "last-event-id" | "traceparent" | "idempotency-key";
export type ResponseHeader = "x-execution-id" | "traceparent";

export type ResponseDescription =
  /**
   * An envelope with this payload; `accepted` describes the 202 of a route that can respond early, whose payload is the same
   * unless `acceptedData` has another.
   */
  | {
      readonly kind: "json";
      readonly description: string;
      readonly data: Shape;
      readonly accepted?: string;
      readonly acceptedData?: Shape;
      readonly headers?: readonly ResponseHeader[];
    }
  /** Server-sent events; `empty` describes the 204 of a stream without further events, `accepted` as above. */
  | {
      readonly kind: "events";
      readonly description: string;
      readonly event: Shape;
      readonly empty?: string;
      readonly accepted?: string;
      readonly acceptedData?: Shape;
      readonly headers?: readonly ResponseHeader[];
    }
  /** Another content type, such as a page. */
  | { readonly kind: "other"; readonly description: string; readonly contentType: string };

/** The limit that a row counts against. */
export function costOf({ response, costs }: Pick<Route, "response" | "costs">): Cost | undefined {
  return response.kind === "events" ? "stream" : costs;
}

/** Whether the path contains an execution id: then every response has it in `x-execution-id`. */
export function namesExecution({ path }: Pick<Route, "path">): boolean {
  return path.includes("/:executionId");
}

/** Types a row: the handler receives the body and query in the types of their schemas. */
export function route<Body = undefined, Query = undefined>(row: Route<Body, Query>): Route {
  const { ids, ...rest } = row;
  return {
    ...rest,
    ...(ids && { ids: (known) => ids(narrow(known)) }),
    handle: (context) => row.handle(narrow(context)),
  };
  // The app parses body and query with the row's schemas before it calls these functions.
  function narrow<Given extends Known<unknown, unknown>>(given: Given): Given & Known<Body, Query> {
    return given as Given & Known<Body, Query>;
  }
}
