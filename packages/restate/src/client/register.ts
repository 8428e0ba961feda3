// Opening: the version of the server, the registration of the endpoint, and the number of shards.
import { randomUUID } from "node:crypto";
import { rootName, services } from "../engine/objects.ts";
import type { Settings } from "../options.ts";
import type { Ingress } from "./ingress.ts";

const oldestServer = [1, 6] as const;

export async function register(ingress: Ingress, settings: Settings): Promise<void> {
  const { namespace, shards, endpointUrl } = settings;
  const { version } = await ask<{ version: string }>(ingress, "/version");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1]))
    throw new Error(`the Restate server is ${version}, at least ${oldestServer.join(".")} is needed`);
  const { deployments } = await ask<{ deployments: { uri?: string }[] }>(ingress, "/deployments");
  const isKnown = deployments.some(({ uri }) => uri?.replace(/\/+$/, "") === endpointUrl);
  const known = await ask<{ services: { name: string; handlers: { name: string }[] }[] }>(
    ingress,
    "/services",
  );
  const handlersOf = (service: string) => known.services.find(({ name }) => name === service)?.handlers ?? [];
  const isServed = services.every((service) =>
    namesIn(service).every((handler) => handlersOf(service.name).some(({ name }) => name === handler)),
  );
  if (!isKnown || !isServed) {
    // An earlier release may have registered the same address with fewer handlers.
    const response = await ingress.administrate("/deployments", { uri: endpointUrl, force: isKnown });
    if (!response.ok) {
      const text = (await response.text()).slice(0, 500);
      throw new Error(`Restate could not register ${endpointUrl}, which it has to reach: ${text}`);
    }
  }
  const path = `/${rootName}/${namespace}/found`;
  const agreed = await ingress.call<number>(path, JSON.stringify({ shards }), randomUUID());
  if (agreed !== shards)
    throw new Error(`the namespace ${namespace} has ${agreed} shards, and the option asks for ${shards}`);
}

/** The handlers of an object: the SDK's types do not show them. */
const namesIn = (service: object) =>
  "object" in service && service.object instanceof Object ? Object.keys(service.object) : [];

async function ask<Reply>(ingress: Ingress, path: string): Promise<Reply> {
  let response: Response;
  try {
    response = await ingress.administrate(path);
  } catch (cause) {
    throw new Error("adminUrl does not respond", { cause });
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`adminUrl responded with ${response.status}: ${text.slice(0, 200)}`);
  const reply: Reply = JSON.parse(text);
  return reply;
}
