// Opening: the version of the server, the registration of the endpoint, and the number of shards.
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "@andante/core/errors";
import { rootName, services } from "../engine/objects.ts";
import type { Settings } from "../options.ts";
import type { Ingress } from "./ingress.ts";

const oldestServer = "1.6";

/** Milliseconds that Restate may take to register an endpoint: it waits for the endpoint's response. */
const registrationTime = 8_000;

export async function register(ingress: Ingress, settings: Settings): Promise<void> {
  const { namespace, shards, endpointUrl } = settings;
  const { version } = await ingress.administrate<{ version: string }>("/version");
  if (version.localeCompare(oldestServer, "en", { numeric: true }) < 0)
    throw new Error(`the Restate server is ${version}, at least ${oldestServer} is needed`);
  const { deployments } = await ingress.administrate<{ deployments: { uri?: string }[] }>("/deployments");
  const isKnown = deployments.some(({ uri }) => uri?.replace(/\/+$/, "") === endpointUrl);
  const known = await ingress.administrate<{ services: Service[] }>("/services");
  const handlersOf = (service: string) => known.services.find(({ name }) => name === service)?.handlers ?? [];
  const isServed = services.every((service) =>
    namesIn(service).every((handler) => handlersOf(service.name).some(({ name }) => name === handler)),
  );
  if (!isKnown || !isServed)
    try {
      // An earlier release may have registered the same address with fewer handlers.
      const deployment = { uri: endpointUrl, force: isKnown };
      await ingress.administrate("/deployments", deployment, AbortSignal.timeout(registrationTime));
    } catch (cause) {
      const problem = `Restate could not register ${endpointUrl}, which it has to reach: ${problemIn(cause)}`;
      throw new Error(problem, { cause });
    }
  const path = `/${rootName}/${namespace}/found`;
  const agreed = await ingress.call<number>(path, JSON.stringify({ shards }), randomUUID());
  if (agreed !== shards)
    throw new Error(`the namespace ${namespace} has ${agreed} shards, and the option asks for ${shards}`);
}

/** A service that is registered. */
interface Service {
  readonly name: string;
  readonly handlers: readonly { readonly name: string }[];
}

/** The handlers of an object: the SDK's types do not show them. */
const namesIn = (service: object) =>
  "object" in service && service.object instanceof Object ? Object.keys(service.object) : [];

/** Why a call of Restate has failed, in words. */
export function problemIn(error: unknown): string {
  const problem = error instanceof StoreUnavailableError ? error.cause : error;
  return problem instanceof Error ? problem.message : String(problem);
}
