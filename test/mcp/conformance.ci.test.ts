// The official conformance suite against /mcp, with the requirements of both protocols and the extension for tasks. A check that
// fails has a reason here; one that fails without a reason, or that passes with one, fails the test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { workflows } from "./conformance-tools.ts";

const suite = path.join(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);
const checks = z.array(z.object({ id: z.string(), status: z.string() }));

/** The reasons of the checks that fail. */
const prompts = "a server of workflows has no prompts";
const completions = "arguments are not completed";
const content = "the result of a workflow is JSON, not an image, a sound or a resource";
const resources = "resources are journals and conversations, not those of the suite";
const keys = "the suite answers a question by a key that it has chosen; keys are ids of suspensions";
const others = "the server asks for forms, never for samples of a model, roots or logs";
const headers = "no tool takes arguments from headers";
const required = "no tool refuses clients without tasks: their call waits for the result";
const failed = "an execution that fails is a result with isError; there is no other end of it";
const fixture = "the suite wants a tool that it has defined itself";
const connections = "the server calls no client over the connection, which the protocol has given up";

const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2026-07-28": {
    "completion-complete": completions,
    "json-schema-2020-12-tool-found": fixture,
    "prompts-get-embedded-resource": prompts,
    "prompts-get-simple": prompts,
    "prompts-get-with-args": prompts,
    "prompts-get-with-image": prompts,
    "prompts-list": prompts,
    "resources-read-binary": resources,
    "resources-read-text": resources,
    "resources-templates-read": resources,
    "sep-2243-server-decode-base64": headers,
    "sep-2243-server-no-xmcp-tool": headers,
    "sep-2243-server-reject-invalid-param-chars": headers,
    "sep-2243-server-reject-param-mismatch": headers,
    "sep-2243-server-validate-param-match": headers,
    "sep-2322-elicitation-incomplete": keys,
    "sep-2322-list-roots-incomplete": others,
    "sep-2322-multi-round-r1": keys,
    "sep-2322-multiple-inputs-incomplete": others,
    "sep-2322-non-tool-incomplete": prompts,
    "sep-2322-respect-client-capabilities": others,
    "sep-2322-sampling-incomplete": others,
    "sep-2549-prompts-list-caching-hints": prompts,
    "sep-2575-http-server-no-independent-requests-on-stream": fixture,
    "sep-2575-missing-capability-http-400": fixture,
    "sep-2575-server-no-log-without-loglevel": fixture,
    "sep-2575-server-rejects-undeclared-capability": fixture,
    "sep-2663-mrtr-synchronous-before-task-creation": keys,
    "sep-2663-server-returns-missing-capability-when-required": required,
    "sep-2663-tasks-get-status-failed": failed,
    "tools-call-audio": content,
    "tools-call-embedded-resource": content,
    "tools-call-image": content,
    "tools-call-mixed-content": content,
  },
  "2025-11-25": {
    "completion-complete": completions,
    "elicitation-sep1034-general": connections,
    "elicitation-sep1330-general": connections,
    "json-schema-2020-12-tool-found": fixture,
    "logging-set-level": others,
    "prompts-get-embedded-resource": prompts,
    "prompts-get-simple": prompts,
    "prompts-get-with-args": prompts,
    "prompts-get-with-image": prompts,
    "prompts-list": prompts,
    "resources-read-binary": resources,
    "resources-read-text": resources,
    "resources-subscribe": resources,
    "resources-templates-read": resources,
    "resources-unsubscribe": resources,
    "tools-call-audio": content,
    "tools-call-elicitation": connections,
    "tools-call-embedded-resource": content,
    "tools-call-image": content,
    "tools-call-mixed-content": content,
    "tools-call-sampling": connections,
    "tools-call-with-logging": others,
  },
};

async function failuresOf(url: string, requirements: string): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-mcp-"));
  cleanup(() => rmSync(folder, { recursive: true, force: true }));
  const args = [suite, "server", "--url", `${url}/mcp`, "--requirements", requirements, "-o", folder];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  await once(child, "exit");
  const files = globSync("**/checks.json", { cwd: folder });
  expect(files.length).toBeGreaterThan(30);
  const all = files.flatMap((file) =>
    checks.parse(JSON.parse(readFileSync(path.join(folder, file), "utf8"))),
  );
  return [...new Set(all.flatMap(({ id, status }) => (status === "FAILURE" ? [id] : [])))].sort();
}

test.each(Object.entries(reasons))(
  "the requirements of %s, with a reason for each failure",
  async (requirements, known) => {
    const expose = Object.values(workflows).map(({ id }) => id);
    const allowedHosts = ["127.0.0.1", "localhost"];
    const { url } = await serveForTest({ workflows, agents: {}, allowedHosts, mcp: { expose, wait: 500 } });
    expect(await failuresOf(url, requirements)).toEqual(Object.keys(known).sort());
  },
  180_000,
);
