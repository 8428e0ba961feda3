// The card of an agent or a workflow: its name, its address and its authentication.
import { createHash } from "node:crypto";
import type { Exposed } from "../exposed/exposed.ts";
import type { InnerService } from "../exposed/inner-call.ts";
import { headerOf } from "../request/node-request.ts";
import { jsonHeaders } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import type { RouteContext } from "../route.ts";
import { version } from "../version.ts";

export const a2aPath = "/a2a";
export const protocolVersion = "1.0";

interface CardParts {
  readonly service: Pick<InnerService, "andante" | "gate">;
  /** The address of the server for clients. */
  readonly url: string;
  readonly issuer: string | undefined;
  /** Whether pushes are made. */
  readonly push: boolean;
}

export async function cardResponse(
  exposed: Exposed,
  parts: CardParts,
  { http }: Pick<RouteContext, "http">,
): Promise<RouteResponse> {
  const body = JSON.stringify(await cardOf(exposed, parts));
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const headers = { ...jsonHeaders, etag, "cache-control": "public, max-age=300" };
  if (headerOf(http.req, "if-none-match") === etag) return new RouteResponse(null, { status: 304, headers });
  return new RouteResponse(body, { headers });
}

async function cardOf({ kind, id }: Exposed, { service: { andante, gate }, url, issuer, push }: CardParts) {
  const { name, purpose } = kind === "agent" ? await andante.agents.read(id) : andante.workflow(id);
  const description = purpose === "" ? `Runs ${name}` : purpose;
  const modes = ["text/plain", "application/json"];
  const about = issuer === undefined ? {} : { description: `A token of ${issuer}` };
  const security = {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer", ...about } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  };
  return {
    ...{ name, description, version },
    supportedInterfaces: [
      { url: `${url}${a2aPath}/${encodeURIComponent(id)}`, protocolBinding: "JSONRPC", protocolVersion },
    ],
    capabilities: { streaming: true, pushNotifications: push, extendedAgentCard: false },
    ...(gate.enabled && security),
    defaultInputModes: modes,
    defaultOutputModes: kind === "agent" ? ["text/plain"] : modes,
    skills: [{ id, name, description, tags: [kind] }],
  };
}
