// The routes of the Model Context Protocol: its messages, and the metadata that name the issuer of tokens.
import type { Context } from "hono";
import { publicUrl } from "../exposed/exposed.ts";
import type { InnerService } from "../exposed/inner-call.ts";
import { jsonHeaders } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type Route, type RouteContext, route } from "../route.ts";
import { checkMcpOptions, type McpOptions } from "./mcp-options.ts";
import { checkSdk, loadSdk } from "./sdk.ts";

export const mcpPath = "/mcp";
const metadataPath = "/.well-known/oauth-protected-resource";

const shared = {
  resource: [],
  tag: "MCP",
  response: { kind: "other", description: "A message of the protocol", contentType: "application/json" },
  errors: [],
} as const;

/** The rows, which are not part of the API description. `issuer` gives the tokens that the server takes. */
export function mcpRoutes(
  given: McpOptions,
  service: InnerService,
  issuer: string | undefined,
): readonly Route[] {
  checkSdk();
  const options = checkMcpOptions(given, service.andante);
  const { andante, gate, basePath, logger } = service;
  // Not by the start: its first response does not wait for the SDK.
  let loaded: typeof import("./serve-message.ts") | undefined;
  const load = async () => {
    loaded ??= await import("./serve-message.ts");
    await loadSdk();
    return loaded;
  };
  andante
    .ready()
    .then(load)
    .catch(() => undefined);
  const handle = async (context: RouteContext) => {
    const { serveMessage } = loaded ?? (await load());
    return serveMessage(service, options, context);
  };
  const challenge = (http: Context) =>
    `Bearer resource_metadata="${publicUrl(options, basePath, http)}${metadataPath}"`;
  const messages = { ...shared, access: "protected", action: "mcp.connect", challenge, handle } as const;
  const about = { operationId: "mcp", summary: "Call tools over the Model Context Protocol" };
  const rows = (["POST", "GET", "DELETE"] as const).map((method) =>
    route({ ...messages, ...about, method, path: mcpPath }),
  );
  if (!gate.enabled) return rows;
  if (gate.requiresAuth("GET", metadataPath, "public"))
    logger.warn(
      {},
      `clients of MCP cannot find the issuer of tokens: list "GET ${metadataPath}*" in publicRoutes`,
    );
  const metadata = ({ http }: RouteContext) => {
    const resource = publicUrl(options, basePath, http) + mcpPath;
    const servers = issuer === undefined ? {} : { authorization_servers: [issuer] };
    const body = JSON.stringify({ resource, ...servers, bearer_methods_supported: ["header"] });
    return new RouteResponse(body, { headers: jsonHeaders });
  };
  const places = [metadataPath, `${metadataPath}/*`].map((path) =>
    route({
      ...shared,
      access: "public",
      method: "GET",
      path,
      action: "mcp.metadata",
      operationId: "mcpMetadata",
      summary: "Show where clients get tokens",
      handle: metadata,
    }),
  );
  return [...rows, ...places];
}
