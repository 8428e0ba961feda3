// One message of an MCP client: its capabilities and answers.
import { isWithoutId } from "../auth/inject-user.ts";
import { publicUrl } from "../exposed/exposed.ts";
import { InnerCall } from "../exposed/inner-call.ts";
import { isObject } from "../is-object.ts";
import { headerOf } from "../request/node-request.ts";
import type { CheckedMcpOptions, ExposedTool } from "./mcp-options.ts";
import type { Sdk } from "./sdk.ts";

type Fields = Readonly<Record<string, unknown>>;

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

const clientKey = "io.modelcontextprotocol/clientInfo";
/** Characters of a client's name that are kept. */
const longestName = 80;
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
export const tasksExtension = "io.modelcontextprotocol/tasks";

export class McpCall extends InnerCall {
  readonly sdk: Sdk;
  readonly options: CheckedMcpOptions;
  readonly #context: SdkContext;

  constructor(from: Pick<McpCall, "sdk" | "service" | "options" | "http" | "caller">, context: SdkContext) {
    super(from);
    this.sdk = from.sdk;
    this.options = from.options;
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

  /** The name of the program that calls: clients of the protocol of 2025 name themselves in `user-agent` alone. */
  get client(): string {
    const info = this.#context.mcpReq.envelope?.[clientKey];
    const [agent = ""] = (headerOf(this.http.req, "user-agent") ?? "").split(/[/\s]/, 1);
    const name = isObject(info) && typeof info.name === "string" ? info.name : agent;
    const plain = name
      .replaceAll(/\p{Cc}/gu, "")
      .slice(0, longestName)
      .toWellFormed();
    return plain === "" ? "unknown" : plain;
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

  isExposed(kind: ExposedTool["kind"], id: string): boolean {
    for (const tool of this.options.tools.values()) if (tool.kind === kind && tool.id === id) return true;
    return false;
  }

  get #capabilities(): Fields {
    const declared = this.#context.mcpReq.envelope?.[capabilitiesKey];
    return isObject(declared) ? declared : {};
  }
}
