// The route table's row: everything the router, the checks and the API description know about an endpoint.
import type { Andante, Logger } from "@andante/core";
import type { Context } from "hono";
import type { z } from "zod";
import type { Access } from "./auth/access.ts";
import type { Authorize, Reveals, Scope } from "./auth/authorize.ts";
import type { Caller, Gate } from "./auth/gate.ts";
import type { Ids, Permission } from "./auth/permission.ts";
import type { View } from "./auth/view.ts";
import type { Cors } from "./cors/cors.ts";
import type { Reads } from "./request/reads.ts";
import type { BuiltResponses } from "./response/static-response.ts";
import type { Shape } from "./schemas/component.ts";
import type { Cost } from "./sse/open-stream.ts";
import type { OpenStream } from "./sse/open-streams.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** What a handler works with. */
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
  /** What stands before every path in an address of this service: "/ai", or "". */
  readonly basePath: string;
  /** How much a list may show. */
  readonly scope: Scope;
  /** Decides about the entries of a list. */
  readonly permission: Permission;
  /** What the caller may see of log lines and spans. */
  readonly view: View;
  /** Whether the console is served. */
  readonly hasConsole: boolean;
  /** Whether a route of the host's own has taken the place of this one. */
  isReplaced(row: Route): boolean;
  /** Whether responses may be compressed. */
  readonly compression: boolean;
  readonly built: BuiltResponses;
  /** The line in which exports wait to read their next page. */
  readonly bounds: { readonly exportPages: Reads };
  /** For a row that responds with events or an export: its place among the open ones. */
  readonly stream?: OpenStream | undefined;
}

/** The name of an id in the questions to `authorize`. */
export type ResourceId =
  | "workflowId"
  | "agentId"
  | "executionId"
  | "conversationId"
  | "userId"
  | "traceId"
  | "entityType"
  | "entityId"
  | "file";

type Known<Body, Query> = Pick<RouteContext<Body, Query>, "andante" | "params" | "query" | "body">;

export interface Route<Body = unknown, Query = unknown> {
  readonly method: Method;
  /** With `:name` for parameters. */
  readonly path: string;
  /** The contract names it, so a host's route cannot take its place. Default: it does not, and a host's route can. */
  readonly contract?: true;
  readonly access: Access;
  /** What the host's `authorize` is asked about, such as `workflows.execute`. */
  readonly action: string;
  /** Actions that must be allowed too, because this one shows or does the same in another way. Default: none. */
  readonly requires?: readonly string[];
  /** The ids that `authorize` may receive in `resource`; each is read from the path or the query where it is there. */
  readonly resource: readonly ResourceId[];
  /** Those of them that are in the body or in the store. `authorize` is asked again with each, once they are known. */
  ids?(known: Known<Body, Query>): readonly Ids[] | Promise<readonly Ids[]>;
  /** Whose it shows, or changes, where the host's `authorize` does not say. Default: it is not bound to users. */
  readonly reveals?: Reveals;
  /**
   * What it costs beside a request: a `read` waits for its client's turn, an `export` holds a place until it is read to
   * its end. Default: nothing, except that events hold a place among the streams.
   */
  readonly costs?: "read" | "export";
  /** Its name in the API description, which generators make functions of. */
  readonly operationId: string;
  /** One line for the API description. */
  readonly summary: string;
  /** The group it stands under in the API description. */
  readonly tag: string;
  readonly query?: Shape<z.ZodType<Query> & { readonly shape: object }>;
  /** The headers it reads, beside those that say who calls and what the body is. */
  readonly headers?: readonly RequestHeader[];
  /** The body's shape. */
  readonly body?: Shape<z.ZodType<Body>>;
  /** The route accepts a request without a body as `{}`. Default: false, a missing body is 400. */
  readonly bodyOptional?: boolean;
  /** The successful response. */
  readonly response: ResponseDescription;
  /** Statuses of errors beside those that every route can respond with. */
  readonly errors: readonly number[];
  /** Runs before the body is read: an unknown resource is 404 whatever the body says. */
  check?(andante: Andante, params: Readonly<Record<string, string>>): void;
  /** Returns the payload of the envelope, or a RouteResponse. */
  handle(context: RouteContext<Body, Query>): unknown;
}

export type RequestHeader = "prefer" | "last-event-id" | "traceparent";
export type ResponseHeader = "x-execution-id" | "traceparent";

export type ResponseDescription =
  /** An envelope with this payload; `accepted` describes the 202 of a route that can respond early. */
  | {
      readonly kind: "json";
      readonly description: string;
      readonly data: Shape;
      readonly accepted?: string;
      readonly headers?: readonly ResponseHeader[];
    }
  /** Server-sent events; `empty` describes the 204 of a route that can have none left. */
  | {
      readonly kind: "events";
      readonly description: string;
      readonly event: Shape;
      readonly empty?: string;
      readonly headers?: readonly ResponseHeader[];
    }
  /** Something else, such as a page. */
  | { readonly kind: "other"; readonly description: string; readonly contentType: string };

/** Which of the bounds on load a row counts against. */
export function costOf({ response, costs }: Pick<Route, "response" | "costs">): Cost | undefined {
  return response.kind === "events" ? "stream" : costs;
}

/** Whether the path names an execution: then every response does, in `x-execution-id`. */
export function namesExecution({ path }: Pick<Route, "path">): boolean {
  return path.includes("/:executionId");
}

/** Writes a row with its types: the handler sees the body and query as their schemas return them. */
export function route<Body = undefined, Query = undefined>(row: Route<Body, Query>): Route {
  const { ids, ...rest } = row;
  return {
    ...rest,
    ...(ids && { ids: (known) => ids(narrow(known)) }),
    handle: (context) => row.handle(narrow(context)),
  };
  // The app parses body and query with the row's own schemas before it calls these.
  function narrow<Given extends Known<unknown, unknown>>(given: Given): Given & Known<Body, Query> {
    return given as Given & Known<Body, Query>;
  }
}
