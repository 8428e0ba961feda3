// One message of one caller, and the way to the rows of the route table: so a tool has the same checks, owners, limits and
// calls of `authorize` as the request over HTTP that does the same.
import type { Andante, Logger } from "@andante/core";
import type { Context } from "hono";
import type { Authorize } from "../auth/authorize.ts";
import type { Caller, Gate } from "../auth/gate.ts";
import { isWithoutId } from "../auth/inject-user.ts";
import { type Guarded, Permission } from "../auth/permission.ts";
import { isObject } from "../is-object.ts";
import type { Route, RouteContext } from "../route.ts";
import { routes } from "../routes/index.ts";
import { type CheckedMcpOptions, type ExposedTool, publicUrl } from "./mcp-options.ts";
import type { Sdk } from "./sdk.ts";

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

export interface McpService {
  readonly andante: Andante;
  readonly logger: Logger;
  readonly gate: Gate;
  readonly authorize: Authorize | undefined;
  readonly basePath: string;
  hasConsole(): boolean;
  readonly handleInner: HandleInner;
}

/** The part of the SDK's context of a request that is used here. */
interface SdkContext {
  readonly mcpReq: {
    readonly _meta?: Fields | undefined;
    readonly envelope?: Fields | undefined;
    readonly inputResponses?: Fields | undefined;
    requestState(): unknown;
    notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
  };
}

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
export const tasksExtension = "io.modelcontextprotocol/tasks";

export class McpCall {
  readonly sdk: Sdk;
  readonly service: McpService;
  readonly options: CheckedMcpOptions;
  readonly http: Context;
  readonly caller: Caller;
  readonly #context: SdkContext;

  constructor(from: Pick<McpCall, "sdk" | "service" | "options" | "http" | "caller">, context: SdkContext) {
    this.sdk = from.sdk;
    this.service = from.service;
    this.options = from.options;
    this.http = from.http;
    this.caller = from.caller;
    this.#context = context;
  }

  /** Clients of the protocol of 2025 declare no capabilities with a call. */
  get declaresTasks(): boolean {
    const { extensions } = this.#capabilities;
    return isObject(extensions) && Object.hasOwn(extensions, tasksExtension);
  }

  /** A user without an id owns nothing that could be read later. */
  get supportsTasks(): boolean {
    return this.declaresTasks && !isWithoutId(this.caller);
  }

  /** Whether the client shows forms. A declaration without a mode means forms. */
  get supportsForms(): boolean {
    const { elicitation } = this.#capabilities;
    return isObject(elicitation) && ("form" in elicitation || Object.keys(elicitation).length === 0);
  }

  /** The answers of the client to questions of an earlier result, by their keys. */
  get inputResponses(): Fields {
    return this.#context.mcpReq.inputResponses ?? {};
  }

  get requestState(): string | undefined {
    const state = this.#context.mcpReq.requestState();
    return typeof state === "string" ? state : undefined;
  }

  /** Sends progress; undefined where the client has not asked for it. */
  get progress(): ((progress: number, message: string) => Promise<void>) | undefined {
    const { _meta, notify } = this.#context.mcpReq;
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return undefined;
    return (progress, message) =>
      notify({ method: "notifications/progress", params: { progressToken, progress, message } });
  }

  /** The address of the server for clients. */
  get url(): string {
    return publicUrl(this.options, this.service.basePath, this.http);
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

  isExposed(kind: ExposedTool["kind"], id: string): boolean {
    for (const tool of this.options.tools.values()) if (tool.kind === kind && tool.id === id) return true;
    return false;
  }

  permission(guarded: Guarded): Permission {
    return new Permission(this.service.authorize, this.service.gate.enabled, this.caller, guarded);
  }

  get #capabilities(): Fields {
    const declared = this.#context.mcpReq.envelope?.[capabilitiesKey];
    return isObject(declared) ? declared : {};
  }
}

/** A row of the route table. */
export function rowOf(operationId: string): Route {
  const found = routes.find((row) => row.operationId === operationId);
  if (found === undefined) throw new TypeError(`no route is named ${operationId}`);
  return found;
}
