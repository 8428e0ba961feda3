// One message of one caller in another protocol, and the way to the rows of the route table: so it has the same checks,
// owners, limits and calls of `authorize` as the request over HTTP that does the same.
import type { Andante, Logger } from "@andante/core";
import type { Context } from "hono";
import type { Authorize } from "../auth/authorize.ts";
import type { Caller, Gate } from "../auth/gate.ts";
import { type Guarded, type Ids, Permission } from "../auth/permission.ts";
import { ForbiddenError } from "../errors/auth-errors.ts";
import type { ClientOf } from "../request/client.ts";
import type { BodyBounds } from "../request/request-body.ts";
import type { Route, RouteContext } from "../route.ts";
import { routes } from "../routes/index.ts";
import type { OpenStreams } from "../sse/open-streams.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a request to a row that is made inside of the server. */
export interface InnerRequest {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query?: Fields;
  readonly body?: unknown;
}

/** Handles an inner request in the phases of every request, from the resource on. */
export type HandleInner = (row: Route, http: Context, request: InnerRequest) => Promise<unknown>;

export interface InnerService {
  readonly andante: Andante;
  readonly logger: Logger;
  readonly gate: Gate;
  readonly authorize: Authorize | undefined;
  readonly basePath: string;
  hasConsole(): boolean;
  readonly handleInner: HandleInner;
  readonly bounds: BodyBounds & {
    readonly clientOf: ClientOf;
    readonly streams: OpenStreams;
    readonly exports: OpenStreams;
  };
}

export class InnerCall {
  readonly service: InnerService;
  readonly http: Context;
  readonly caller: Caller;

  constructor({ service, http, caller }: Pick<InnerCall, "service" | "http" | "caller">) {
    this.service = service;
    this.http = http;
    this.caller = caller;
  }

  /** Performs a row with another handler. */
  async perform<Made>(
    row: Route,
    request: Omit<InnerRequest, "caller">,
    handle: (context: RouteContext) => Made | Promise<Made>,
  ): Promise<Awaited<Made>> {
    const made: { value?: Awaited<Made> } = {};
    const kept = {
      ...row,
      handle: async (context: RouteContext) => {
        made.value = await handle(context);
      },
    };
    await this.service.handleInner(kept, this.http, { ...request, caller: this.caller });
    if (!("value" in made)) throw new TypeError(`the handler of ${row.operationId} was not called`);
    return made.value;
  }

  /** The payload of a row. */
  ask(row: Route, request: Omit<InnerRequest, "caller">): Promise<unknown> {
    return this.perform(row, request, (context) => row.handle(context));
  }

  permission(guarded: Guarded): Permission {
    return new Permission(this.service.authorize, this.service.gate.enabled, this.caller, guarded);
  }

  /** Whether the caller may do this. */
  async may(action: string, ids: Ids): Promise<boolean> {
    try {
      await this.permission({ action }).scopeOf(ids);
      return true;
    } catch (error) {
      if (error instanceof ForbiddenError) return false;
      throw error;
    }
  }
}

/** A row of the route table. */
export function rowOf(operationId: string): Route {
  const found = routes.find((row) => row.operationId === operationId);
  if (found === undefined) throw new TypeError(`no route is named ${operationId}`);
  return found;
}
