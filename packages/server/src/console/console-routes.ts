// The console under /console: its page at every path, and its immutable assets.
import { ConsoleNotBuiltError, RouteNotFoundError } from "../errors/request-errors.ts";
import { escapeHtml } from "../openapi/page.ts";
import { encodingFor, variesBy } from "../response/compress.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type Route, type RouteContext, route } from "../route.ts";
import { type ConsoleFile, ConsoleFiles } from "./console-files.ts";

export const consolePath = "/console";

// Components set inline styles; scripts come only from this origin, and none is evaluated from text.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const shared = {
  method: "GET",
  access: "public",
  action: "console.read",
  resource: [],
  tag: "Console",
  operationId: "getConsole",
  summary: "The console",
  response: { kind: "other", description: "A page or an asset of it", contentType: "text/html" },
  errors: [404],
} as const;

/** The console's routes, not part of the API description. `files` are those of the package by default. */
export function consoleRoutes(files: () => ConsoleFiles = oneOf(() => new ConsoleFiles())): readonly Route[] {
  const handle = (context: RouteContext) => respond(context, files());
  return [
    route({ ...shared, path: consolePath, handle }),
    route({ ...shared, path: `${consolePath}/*`, handle }),
  ];
}

async function respond(
  { http, basePath, compression, built, gate }: RouteContext,
  files: ConsoleFiles,
): Promise<RouteResponse> {
  const rest = http.req.path.slice(consolePath.length);
  const asset = await files.read(rest.slice(1));
  if (asset !== undefined && !rest.endsWith(".html"))
    return assetResponse(asset, compression, http.req.header("accept-encoding"));
  // A missing script must be a 404, not the page.
  if (/\.\w+$/.test(rest) && rest.startsWith("/assets/"))
    throw new RouteNotFoundError({ method: "GET", path: basePath + http.req.path });
  const page = await files.read("index.html");
  if (page === undefined) throw new ConsoleNotBuiltError();
  const root = rootFrom(rest);
  return built.consolePages.get(root, () => pageResponse(page, root, gate.signInUrl));
}

function assetResponse(
  { content, gzipped, type, immutable }: ConsoleFile,
  compression: boolean,
  accepted: string | undefined,
): RouteResponse {
  const offered = compression ? gzipped : undefined;
  const compressed = encodingFor(accepted, ["gzip"]) === undefined ? undefined : offered;
  return new RouteResponse(compressed ?? content, {
    headers: {
      "content-type": type,
      "cache-control": immutable ? "public, max-age=31536000, immutable" : "no-cache",
      "x-content-type-options": "nosniff",
      ...(offered && { vary: variesBy }),
      ...(compressed && { "content-encoding": "gzip" }),
    },
  });
}

/** The page with a relative base address: a proxy may serve it under any prefix. */
function pageResponse({ content }: ConsoleFile, root: string, signInUrl: string | undefined): RouteResponse {
  const signIn = signInUrl && `<meta name="sign-in-url" content="${escapeHtml(signInUrl)}">`;
  const head = `<head><base href="${root}">${signIn ?? ""}`;
  // A function: `$` in the replacement has a meaning, and may be in a URL.
  const html = new TextDecoder().decode(content).replace("<head>", () => head);
  return new RouteResponse(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    },
  });
}

/** The console's root, relative to a path inside it: "" is /console, "/executions/1" two levels below. */
export function rootFrom(rest: string): string {
  if (rest === "") return `${consolePath.slice(1)}/`;
  const depth = rest.split("/").length - 2;
  return depth === 0 ? "./" : "../".repeat(depth);
}

function oneOf<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
