// The routes of the protocol between agents: cards, and one address for each agent.

import { RouteNotFoundError } from "../errors/request-errors.ts";
import type { Exposed } from "../exposed/exposed.ts";
import { publicUrl } from "../exposed/exposed.ts";
import type { InnerService } from "../exposed/inner-call.ts";
import { type Route, type RouteContext, route } from "../route.ts";
import { type A2aOptions, checkA2aOptions } from "./a2a-options.ts";
import { a2aPath, cardResponse } from "./agent-card.ts";
import { pushSource } from "./push-methods.ts";

const cardPath = "/.well-known/agent-card.json";

const shared = {
  tag: "A2A",
  response: { kind: "other", description: "JSON of the protocol", contentType: "application/json" },
  errors: [],
} as const;

/** The rows, which are not part of the API description. `issuer` gives the tokens that the server takes. */
export function a2aRoutes(
  given: A2aOptions,
  service: InnerService,
  issuer: string | undefined,
): readonly Route[] {
  const options = checkA2aOptions(given, service.andante);
  const { gate, basePath, logger, andante } = service;
  if (options.push) andante.deliveries.pushes.serve(pushSource(andante, options.push.allowPrivate));
  const [first] = options.agents.values();
  const agentOf = ({ http, params }: RouteContext): Exposed => {
    const agent = options.agents.get(params.id ?? "");
    if (agent === undefined) throw new RouteNotFoundError({ method: http.req.method, path: http.req.path });
    return agent;
  };
  const card = (context: RouteContext, exposed: Exposed) =>
    cardResponse(
      exposed,
      { service, url: publicUrl(options, basePath, context.http), issuer, push: options.push !== undefined },
      context,
    );
  const cards = { ...shared, access: "public", method: "GET", action: "a2a.card", resource: [] } as const;
  if (gate.requiresAuth("GET", cardPath, "public"))
    logger.warn(
      {},
      `clients of A2A cannot find agents: list "GET ${cardPath}" and "GET ${a2aPath}/*" in publicRoutes`,
    );
  return [
    ...(first === undefined
      ? []
      : [
          route({
            ...cards,
            path: cardPath,
            operationId: "a2aCard",
            summary: "Show the card of the first agent",
            handle: (context) => card(context, first),
          }),
        ]),
    route({
      ...cards,
      path: `${a2aPath}/:id${cardPath}`,
      operationId: "a2aAgentCard",
      summary: "Show the card of an agent",
      handle: (context) => card(context, agentOf(context)),
    }),
    route({
      ...shared,
      access: "protected",
      method: "POST",
      path: `${a2aPath}/:id`,
      action: "a2a.connect",
      resource: [],
      operationId: "a2a",
      summary: "Send a message to an agent over A2A",
      handle: async (context) => {
        const agent = agentOf(context);
        const { serveRequest } = await import("./serve-request.ts");
        return serveRequest(service, options, agent, context);
      },
    }),
  ];
}
