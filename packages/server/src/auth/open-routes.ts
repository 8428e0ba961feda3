// Describes the routes that stay public despite authentication, for the log at start.
import type { Access } from "./gate.ts";
import type { AuthProvider } from "./provider.ts";
import { publicRoutesTest } from "./public-routes.ts";

/** The fields of a built-in route that the warning needs. */
interface OpenRoute {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  readonly action: string;
  readonly summary: string;
}

/** Descriptions by action, in place of a route's summary. */
const abilities: ReadonlyMap<string, string> = new Map([
  ["agents.list", "list the agents"],
  ["agents.read", "read how an agent is set up"],
  ["workflows.list", "list the workflows"],
  ["workflows.read", "read the steps and schemas of a workflow"],
  ["executions.read", "read the state, input and context of an execution whose id they know"],
  ["executions.suspend", "suspend an execution whose id they know"],
  ["executions.resume", "resume an execution whose id they know"],
  ["logs.read", "read log lines"],
  ["documentation.read", "read the documentation pages"],
  ["health.read", "ask whether the service is well"],
]);
/** Actions that reveal no data: no warning when the host lists them as public. */
const harmless = new Set(["documentation.read", "health.read"]);

const anyone = "anyone who can reach this port can";

/** The warning; undefined when no public route needs the host's attention. */
export function openRoutesWarning(
  provider: AuthProvider,
  builtIn: readonly OpenRoute[],
  custom: readonly { readonly method: string; readonly path: string }[],
): string | undefined {
  const isListed = publicRoutesTest(provider.publicRoutes ?? []);
  const listed = builtIn.filter(
    ({ method, path, action }) => isListed(method, path) && !harmless.has(action),
  );
  const isOpen = ({ method, path }: { readonly method: string; readonly path: string }) =>
    provider.defaultPrivate !== true && !isListed(method, path);
  const unlisted = builtIn.filter((route) => route.access === "public" && isOpen(route));
  const own = custom.filter(isOpen);
  const ofHost = own.length === 0 ? [] : [`call your own routes (${own.map(nameOf).join(", ")})`];
  const sentences = [
    sentence([...abilitiesOf(unlisted), ...ofHost], "defaultPrivate: true closes these"),
    sentence(abilitiesOf(listed), "publicRoutes has opened these"),
    provider.webSocket === "protect"
      ? ""
      : `${anyone} connect to /ws, /ws/logs and /ws/observability and read log lines and spans; webSocket: "protect" closes these`,
  ].filter((text) => text !== "");
  return sentences.length === 0 ? undefined : `authentication is on, but ${sentences.join(". Also, ")}`;
}

function sentence(can: readonly string[], closedBy: string): string {
  return can.length === 0 ? "" : `${anyone} ${can.join("; ")}; ${closedBy}`;
}

/** Groups the routes by the ability that they give a caller. */
function abilitiesOf(routes: readonly OpenRoute[]): string[] {
  const names = new Map<string, string[]>();
  for (const route of routes) {
    const { action, summary } = route;
    const ability = abilities.get(action) ?? `${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`;
    names.set(ability, [...(names.get(ability) ?? []), nameOf(route)]);
  }
  return Array.from(names, ([ability, which]) => `${ability} (${which.join(", ")})`);
}

function nameOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
