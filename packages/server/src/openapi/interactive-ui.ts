// The interactive UI: Swagger UI with every asset served locally, so that it works offline.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { RouteResponse } from "../response/route-response.ts";
import { page } from "./page.ts";

/** The folder of the assets. The build copies Swagger UI's files next to this module. */
function assets(): URL {
  return import.meta.url.endsWith(".ts")
    ? new URL(".", import.meta.resolve("swagger-ui-dist/package.json"))
    : new URL("./swagger-ui/", import.meta.url);
}

const start = `window.ui = SwaggerUIBundle({ url: new URL("../doc", document.currentScript.src).href, dom_id: "#ui", deepLinking: true, persistAuthorization: true });\n`;

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Andante API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="ui/swagger-ui.css">
</head>
<body>
<div id="ui"></div>
<script src="ui/swagger-ui-bundle.js"></script>
<script src="ui/start.js"></script>
</body>
</html>
`;

// Swagger UI sets inline styles and loads icons from data URLs.
const policy =
  "script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'";

const script = "text/javascript; charset=utf-8";

const types = {
  "start.js": script,
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": script,
} as const;

export function interactiveUi(): RouteResponse {
  return page(html, policy);
}

export function isUiAsset(name: string): name is keyof typeof types {
  return Object.hasOwn(types, name);
}

/** One of the assets. */
export async function uiAsset(name: keyof typeof types): Promise<RouteResponse> {
  const content = name === "start.js" ? start : await readFile(fileURLToPath(new URL(name, assets())));
  return new RouteResponse(typeof content === "string" ? content : new Uint8Array(content), {
    headers: {
      "content-type": types[name],
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=3600",
    },
  });
}
