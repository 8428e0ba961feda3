// The landing page: what is registered here, and a call to try for each, in the console's colours.
import { createHash } from "node:crypto";
import type { AgentSummary, WorkflowDetail } from "@andante/core/internal";
import type { RouteResponse } from "../response/route-response.ts";
import { exampleCalls, exampleQuestion } from "./example-call.ts";
import { escapeHtml, page } from "./page.ts";

const style = `
:root { color-scheme: light dark; --bg: #faf9f6; --panel: #fff; --sunken: #f3f1ec; --line: #e6e2d9; --ink: #1d1b16; --ink2: #5b564b; --ink3: #6f695c; --accent: #2f5d50; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --bg: #14140f; --panel: #1b1b16; --sunken: #12120e; --line: #2c2b24; --ink: #eeebe2; --ink2: #b3ae9f; --ink3: #969082; --accent: #7fc1ab; --on-accent: #10231c; } }
body { max-width: 52rem; margin: 3.5rem auto; padding: 0 1.25rem; background: var(--bg); color: var(--ink); font: 14px/1.55 Inter, system-ui, sans-serif; }
h1 { margin: 0; font-size: 26px; letter-spacing: -0.02em; }
h2 { margin: 2.25rem 0 0.75rem; font-size: 13px; color: var(--ink2); }
h3 { margin: 0; font-size: 15px; }
h3 code { margin-left: 0.4rem; color: var(--ink3); font-weight: 400; font-size: 12px; }
p { margin: 0.15rem 0 0; color: var(--ink2); }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 1.25rem; }
nav a { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: 4px 11px; color: inherit; text-decoration: none; font-weight: 520; }
nav a:hover { background: var(--sunken); }
nav a:first-child { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
section { border: 1px solid var(--line); border-radius: 10px; background: var(--panel); padding: 14px 16px; margin-bottom: 12px; }
pre { margin: 10px 0 0; padding: 10px 12px; white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); font: 12px/18px "JetBrains Mono", ui-monospace, monospace; user-select: all; }
`;
// The empty icon keeps browsers from asking for one that is not there.
const policy = `img-src data:; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`;

export function landingPage(
  { origin, basePath }: { readonly origin: string; readonly basePath: string },
  agents: readonly AgentSummary[],
  workflows: readonly WorkflowDetail[],
): RouteResponse {
  const url = origin + basePath;
  // The page is at the base path itself, so what is below cannot be named by the last part of its address.
  const root = basePath === "" ? "" : `${basePath}/`;
  const link = (path: string, text: string) => `<a href="${root}${path}">${text}</a>`;
  const links = [
    link("console", "Open the console"),
    link("ui", "Try the API"),
    link("doc", "OpenAPI description"),
    link("agents", "Agents as JSON"),
    link("workflows", "Workflows as JSON"),
  ].join("");
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
<style>${style}</style>
</head>
<body>
<h1>Andante</h1>
<p>Agents and durable workflows at a walking pace.</p>
<nav>${links}</nav>
<h2>Agents</h2>
${questions === "" ? "<p>No agents registered.</p>" : questions}
<h2>Workflows</h2>
${calls === "" ? "<p>No workflows registered.</p>" : calls}
</body>
</html>
`,
    policy,
  );
}

function section({ name, id, purpose }: Pick<AgentSummary, "name" | "id" | "purpose">, call: string): string {
  return `<section>
<h3>${escapeHtml(name)} <code>${escapeHtml(id)}</code></h3>
<p>${escapeHtml(purpose)}</p>
<pre><code>${escapeHtml(call)}</code></pre>
</section>`;
}
