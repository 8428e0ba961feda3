// Links: the page of a decision, and the decision.
import { AndanteError } from "@andante/core";
import { LinkFormError } from "@andante/core/errors";
import { decisionPage, problemPage } from "../decide/decision-page.ts";
import { dataOf, type SentFields } from "../decide/form.ts";
import { headerOf } from "../request/node-request.ts";
import type { RouteResponse } from "../response/route-response.ts";
import { type RouteContext, route } from "../route.ts";

const shared = {
  path: "/decide/:token",
  access: "signed",
  resource: [],
  costs: "read",
  tag: "Links",
  response: { kind: "other", description: "A page", contentType: "text/html" },
} as const;

/** Bytes of a form. */
const maxForm = 256 * 1024;
const noFields: SentFields = new URLSearchParams();

export const linkRoutes = [
  route({
    ...shared,
    method: "GET",
    action: "links.read",
    operationId: "getDecisionPage",
    summary: "The page of a link, with the form for its decision; changes nothing",
    errors: [404, 410],
    handle: (context) =>
      asPage(context, async ({ andante, params }) =>
        decisionPage(await andante.links.read(params.token ?? ""), noFields),
      ),
  }),
  route<Uint8Array>({
    ...shared,
    method: "POST",
    action: "links.decide",
    operationId: "decide",
    summary: "Decide by the form of a link, once",
    raw: { limit: maxForm, contentType: "application/x-www-form-urlencoded" },
    errors: [400, 403, 404, 410, 413],
    handle: (context) => asPage(context, decide),
  }),
];

async function decide({ andante, params, body, http }: RouteContext<Uint8Array>): Promise<RouteResponse> {
  const { token = "" } = params;
  const state = await andante.links.read(token);
  if (headerOf(http.req, "sec-fetch-site") === "cross-site") throw new LinkFormError();
  const sent = new URLSearchParams(new TextDecoder().decode(body));
  try {
    const data = state.choice === undefined ? dataOf(state.resumeSchema, sent) : undefined;
    return decisionPage(await andante.links.decide(token, sent.get("form") ?? "", data), noFields);
  } catch (error) {
    if (!(error instanceof AndanteError) || (error.status !== 400 && error.status !== 413)) throw error;
    return decisionPage(state, sent, error);
  }
}

/** Refusals are pages too: people see them. */
async function asPage<Body>(
  context: RouteContext<Body>,
  handle: (context: RouteContext<Body>) => Promise<RouteResponse>,
): Promise<RouteResponse> {
  try {
    return await handle(context);
  } catch (error) {
    if (error instanceof AndanteError && error.status < 500) return problemPage(error);
    throw error;
  }
}
