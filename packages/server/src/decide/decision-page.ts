// The pages of links: the question with its form, and how it was decided. No scripts; every text is escaped.
import { createHash } from "node:crypto";
import type { LinkState } from "@andante/core/internal";
import { escapeHtml, page } from "../openapi/page.ts";
import type { RouteResponse } from "../response/route-response.ts";
import { button, formOf, type SentFields } from "./form.ts";

const style = `
:root { color-scheme: light dark; --ink: #1d2421; --ink2: #58645f; --line: #d5dcd8; --panel: #fff; --page: #f4f6f5; --accent: #2f5d50; --bad: #a3312a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebe8; --ink2: #9fada7; --line: #35403b; --panel: #1b211e; --page: #121614; --accent: #6fa895; --bad: #e58f88; } }
body { margin: 0; padding: 2rem 1rem; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 1.25rem 1.5rem; border: 1px solid var(--line); border-radius: 10px; background: var(--panel); overflow-wrap: anywhere; }
h1 { margin: 0 0 .25rem; font-size: 1.25rem; }
p { margin: .5rem 0; }
small, .note { color: var(--ink2); }
.error { color: var(--bad); }
pre { padding: .75rem; border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; font-size: .8125rem; }
label span { display: block; margin-top: .75rem; }
input, select, textarea { box-sizing: border-box; width: 100%; padding: .5rem; border: 1px solid var(--line); border-radius: 6px; background: var(--page); color: inherit; font: inherit; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: 1rem; }
button { padding: .6rem 1.1rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--accent); color: var(--panel); font: inherit; cursor: pointer; }
`;
const policy = `img-src data:; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`;

/** Characters of the data that a page shows. */
const maxData = 20_000;

export interface Problem {
  readonly status: number;
  readonly message: string;
}

/** The page of a link. `problem`: the form was refused; it is shown again with the fields as they were sent. */
export function decisionPage(state: LinkState, sent: SentFields, problem?: Problem): RouteResponse {
  const { status, workflow, step, reason, data } = state;
  const isOpen = status === "open" || status === "early";
  const details = [
    step.purpose === "" ? "" : `<p class="note">${escapeHtml(step.purpose)}</p>`,
    reason === "" ? "" : `<p>${escapeHtml(reason)}</p>`,
    data === undefined
      ? ""
      : `<pre>${escapeHtml((JSON.stringify(data, null, 2) ?? "").slice(0, maxData))}</pre>`,
    problem === undefined ? "" : `<p class="error" role="alert">${escapeHtml(problem.message)}</p>`,
  ].join("");
  const body = isOpen ? details + form(state, sent) : `<p>${escapeHtml(sentence(state))}</p>`;
  const refused = status === "replaced" ? 409 : 200;
  return html(`${step.name} · ${workflow.name}`, body, {
    status: problem?.status ?? refused,
    hasForm: isOpen,
  });
}

/** The page for a link that is not valid, has expired or cannot be used now. */
export function problemPage({ status, message }: Problem): RouteResponse {
  return html("Link", `<p>${escapeHtml(message)}</p>`, { status });
}

function form({ choice, resumeSchema, form, expiresAt, status, to }: LinkState, sent: SentFields): string {
  const inputs =
    choice === undefined
      ? formOf(resumeSchema, sent)
      : `<p class="buttons">${button("", "", choice.label)}</p>`;
  const notes = [
    status === "early" ? "The workflow has not reached this step yet. Your decision is kept for it." : "",
    to === undefined ? "" : `For ${to}.`,
    `The link expires on ${dateOf(expiresAt)}.`,
  ].filter((note) => note !== "");
  return `<form method="post"><input type="hidden" name="form" value="${escapeHtml(form)}">
${inputs}
</form><p class="note">${escapeHtml(notes.join(" "))}</p>`;
}

function sentence({ status, decision, execution }: LinkState): string {
  if (status === "replaced")
    return "This question was asked again or is not open any more: this link does not count.";
  if (status === "ended" || decision === undefined)
    return `The workflow has ended (${execution}): there is nothing to decide any more.`;
  const { by, at, byDeadline, label } = decision;
  const person = byDeadline ? "by the deadline" : by === undefined ? "" : `by ${by}`;
  const which = label === undefined ? "" : ` (${label})`;
  return `Decided ${person} on ${dateOf(at)}${which}.`.replace("  ", " ");
}

function dateOf(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function html(
  title: string,
  body: string,
  options: { readonly status: number; readonly hasForm?: boolean },
): RouteResponse {
  return page(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body><main>
<h1>${escapeHtml(title)}</h1>
${body}
</main></body>
</html>
`,
    policy,
    options,
  );
}
