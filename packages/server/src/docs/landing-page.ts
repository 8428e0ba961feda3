// The landing page: what is registered here, and a call to try for each.
import { createHash } from "node:crypto";
import type { AgentSummary, WorkflowDetail } from "@andante/core/internal";
import type { RouteResponse } from "../response/route-response.ts";
import { exampleCalls, exampleQuestion } from "./example-call.ts";
import { escapeHtml, page } from "./page.ts";

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin: 2.5rem 0 0.5rem; } h3 { margin: 1.5rem 0 0; }
nav a { margin-right: 1rem; }
p { margin: 0.25rem 0; }
pre { padding: 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8886; border-radius: 6px; font-size: 0.85rem; }
`;
// The empty icon keeps browsers from asking for one that is not there.
const policy = `img-src data:; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`;

export function landingPage(
  url: string,
  agents: readonly AgentSummary[],
  workflows: readonly WorkflowDetail[],
): RouteResponse {
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
<nav><a href="console">Open the console</a><a href="ui">Try the API</a><a href="doc">OpenAPI description</a><a href="agents">Agents as JSON</a><a href="workflows">Workflows as JSON</a></nav>
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
