// The landing page: the registered workflows and agents with an example call for each, in the console's colours.
import { createHash } from "node:crypto";
import type { AgentSummary, WorkflowDetail } from "@andante/core/internal";
import { RouteResponse } from "../response/route-response.ts";
import { atOrigin, exampleCalls, exampleQuestion } from "./example-call.ts";
import { escapeHtml, page } from "./page.ts";

const style = `
:root { color-scheme: light dark; --bg: #faf9f6; --panel: #fff; --sunken: #f3f1ec; --line: #e6e2d9; --ink: #1d1b16; --ink2: #5b564b; --ink3: #6f695c; --accent: #2f5d50; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --bg: #14140f; --panel: #1b1b16; --sunken: #12120e; --line: #2c2b24; --ink: #eeebe2; --ink2: #b3ae9f; --ink3: #969082; --accent: #7fc1ab; --on-accent: #10231c; } }
body { max-width: 52rem; margin: 3.5rem auto; padding: 0 1.25rem; background: var(--bg); color: var(--ink); font: 14px/1.55 Inter, system-ui, sans-serif; }
h1 { display: flex; align-items: center; gap: 10px; margin: 0; font-size: 26px; font-weight: 640; letter-spacing: -0.02em; }
h1 svg { width: 34px; height: 34px; }
h2 { margin: 2.25rem 0 0.75rem; font-size: 13px; color: var(--ink2); }
h3 { margin: 0; font-size: 15px; }
code { font-family: "JetBrains Mono", ui-monospace, monospace; }
h3 code { margin-left: 0.4rem; color: var(--ink3); font-weight: 400; font-size: 12px; }
p { margin: 0.15rem 0 0; color: var(--ink2); }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 1.25rem; }
nav a { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: 4px 11px; color: inherit; text-decoration: none; font-weight: 520; }
nav a:hover { background: var(--sunken); }
nav a:first-child { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
section { border: 1px solid var(--line); border-radius: 10px; background: var(--panel); padding: 14px 16px; margin-bottom: 12px; }
pre { margin: 10px 0 0; padding: 10px 12px; white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); font: 12px/18px "JetBrains Mono", ui-monospace, monospace; user-select: all; }
`;
/** The console's logo. */
const sign = `<svg viewBox="0 0 32 32" aria-hidden="true"><path d="M6 24 13 17h7l6-8" fill="none" stroke="#7fa396" stroke-width="2.5"/><circle cx="6" cy="24" r="4" fill="#2f5d50"/><circle cx="14" cy="17" r="4" fill="#4b7a6c"/><circle cx="26" cy="9" r="4" fill="#8fb3a6"/></svg>`;
/** The font families by the prefix of their file names. */
const families = { "inter-": "Inter", "jetbrains-mono-": "JetBrains Mono" } as const;

export interface ServedAt {
  readonly origin: string;
  readonly basePath: string;
  /** Whether the console is served. */
  readonly hasConsole: boolean;
  /** The paths of the console's fonts, which the page uses. */
  readonly fonts: readonly string[];
}

/** The page of a template at this origin, escaped: the client chooses the host. */
export function pageAt(origin: string, template: RouteResponse): RouteResponse {
  return new RouteResponse(atOrigin(origin, String(template.body), escapeHtml), template);
}

export function landingPage(
  { origin, basePath, hasConsole, fonts }: ServedAt,
  agents: readonly AgentSummary[],
  workflows: readonly WorkflowDetail[],
): RouteResponse {
  const url = origin + basePath;
  // The page is at the base path itself, without a trailing slash, so relative links must repeat the base path.
  const root = basePath === "" ? "" : `${basePath}/`;
  const link = (path: string, text: string) => `<a href="${root}${path}">${text}</a>`;
  const links = [
    ...(hasConsole ? [link("console", "Open the console")] : []),
    link("ui", "Try the API"),
    link("doc", "OpenAPI description"),
    link("agents", "Agents as JSON"),
    link("workflows", "Workflows as JSON"),
  ].join("");
  const styles = style + fontFaces(`${root}console/`, fonts);
  const questions = agents.map((agent) => section(agent, exampleQuestion(url, agent))).join("\n");
  const calls = workflows
    .map((workflow) => section(workflow, exampleCalls(url, workflow).join("\n")))
    .join("\n");
  return page(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Andante</title>
<link rel="icon" href="data:,">
<style>${styles}</style>
</head>
<body>
<h1>${sign}Andante</h1>
<p>Agents and durable workflows at a walking pace.</p>
<nav>${links}</nav>
<h2>Agents</h2>
${questions === "" ? "<p>No agents registered.</p>" : questions}
<h2>Workflows</h2>
${calls === "" ? "<p>No workflows registered.</p>" : calls}
</body>
</html>
`,
    policyFor(styles),
  );
}

/** The policy allows the empty icon, which keeps browsers from requesting a missing one. */
function policyFor(styles: string): string {
  const hash = createHash("sha256").update(styles).digest("base64");
  return `img-src data:; font-src 'self'; style-src 'sha256-${hash}'`;
}

function fontFaces(folder: string, fonts: readonly string[]): string {
  const faces = Object.entries(families).flatMap(([beginning, family]) => {
    const file = fonts.find((name) => name.startsWith(`assets/${beginning}`));
    const source = `url("${folder}${file}") format("woff2")`;
    const face = `@font-face { font-family: "${family}"; font-weight: 100 900; font-display: swap; src: ${source}; }`;
    return file === undefined ? [] : [`${face}\n`];
  });
  return faces.join("");
}

function section({ name, id, purpose }: Pick<AgentSummary, "name" | "id" | "purpose">, call: string): string {
  return `<section>
<h3>${escapeHtml(name)} <code>${escapeHtml(id)}</code></h3>
<p>${escapeHtml(purpose)}</p>
<pre><code>${escapeHtml(call)}</code></pre>
</section>`;
}
