// Opening: the version of the server, the registration of the endpoint, and the number of shards.
import { randomUUID } from "node:crypto";
import { rootName, services } from "../engine/objects.ts";
import type { Settings } from "../options.ts";
import type { Ingress } from "./ingress.ts";

const oldestServer = [1, 6] as const;

export async function register(ingress: Ingress, settings: Settings): Promise<void> {
  const { namespace, shards, endpointUrl } = settings;
  const version = await ask(ingress, "/version");
  const found = /"version":\s*"(\d+)\.(\d+)[^"]*"/.exec(version);
  const [major, minor] = [Number(found?.[1]), Number(found?.[2])];
  if (found !== null && (major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1])))
    throw new Error(`the Restate server is ${found[0]}, at least ${oldestServer.join(".")} is needed`);
  const known: { deployments: { uri?: string; services?: { name: string }[] }[] } = JSON.parse(
    await ask(ingress, "/deployments"),
  );
  const same = known.deployments.filter(({ uri }) => uri?.replace(/\/+$/, "") === endpointUrl);
  const names = new Set(same.flatMap(({ services: its = [] }) => its.map(({ name }) => name)));
  if (!services.every(({ name }) => names.has(name))) {
    // An earlier release may have registered the same address with fewer handlers.
    const response = await ingress.administrate("/deployments", { uri: endpointUrl, force: same.length > 0 });
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

async function ask(ingress: Ingress, path: string): Promise<string> {
  let response: Response;
  try {
    response = await ingress.administrate(path);
  } catch (cause) {
    throw new Error("adminUrl does not respond", { cause });
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`adminUrl responded with ${response.status}: ${text.slice(0, 200)}`);
  return text;
}
